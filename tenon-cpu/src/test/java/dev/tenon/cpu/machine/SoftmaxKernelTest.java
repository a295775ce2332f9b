package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of every length up to some vectors, with NaN and infinities, against float64; plain loops beside them. */
class SoftmaxKernelTest {
    private static final int MOST = 70;
    private static final int ROWS = 5;

    private final MemorySegment arguments = MachineCode.arguments();
    private final Random random = new Random(11);

    /** Computes all rows of a form. */
    @FunctionalInterface
    private interface Softmax {
        void run(SoftmaxKernel.Form form, Matrix x, Matrix mask, Matrix work, Matrix y);
    }

    static Iterable<Integer> widths() {
        return MachineCode.widths();
    }

    /** Row 1 has a NaN, row 2 an infinity, row 3 is masked or -infinity altogether. */
    private MemorySegment rows(int n, long stride, boolean special) {
        MemorySegment x = MachineCode.random(ROWS * stride, random);
        for (int row = 0; special && row < ROWS; row++) {
            long at = row * stride + random.nextInt(n);
            switch (row) {
                case 1 -> MachineCode.set(x, at, Float.NaN);
                case 2 -> MachineCode.set(x, at, Float.POSITIVE_INFINITY);
                case 3 -> {
                    for (int i = 0; i < n; i++) {
                        MachineCode.set(x, row * stride + i, Float.NEGATIVE_INFINITY);
                    }
                }
                default -> MachineCode.set(x, at, -1e30f);
            }
        }
        return x;
    }

    private void check(Softmax softmax, int n, boolean special, boolean guarded, long maskStride) {
        for (float scale : new float[] {1.7f, 1}) {
            check(softmax, n, scale, special, guarded, maskStride);
        }
    }

    private void check(Softmax softmax, int n, float scale, boolean special, boolean guarded, long maskStride) {
        long stride = n + 3L;
        MemorySegment x = rows(n, stride, special);
        MemorySegment mask = MachineCode.random(ROWS * stride, random);
        MemorySegment y = MachineCode.poisoned(ROWS * stride);
        MemorySegment work = MachineCode.poisoned(n);
        Matrix addend = maskStride < 0 ? Matrix.NONE : new Matrix(mask, 0, 4 * maskStride);
        SoftmaxKernel.Form form = new SoftmaxKernel.Form(ROWS, n, scale, guarded, false);
        softmax.run(form, new Matrix(x, 0, 4 * stride), addend, new Matrix(work, 0, 0), new Matrix(y, 0, 4 * stride));
        for (int row = 0; row < ROWS; row++) {
            double[] scores = new double[n];
            double max = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < n; i++) {
                float given = MachineCode.get(x, row * stride + i);
                scores[i] = (double) given * scale + (maskStride < 0 ? 0 : MachineCode.get(mask, row * maskStride + i));
                max = Math.max(max, scores[i]);
            }
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += Math.exp(scores[i] - max);
            }
            for (int i = 0; i < n; i++) {
                double wanted = Math.exp(scores[i] - max) / sum;
                float found = MachineCode.get(y, row * stride + i);
                if (Double.isNaN(wanted) && !guarded) {
                    assertThat(found).as("row " + row).isNaN();
                } else {
                    assertThat((double) found)
                            .as("row " + row)
                            .isCloseTo(Double.isNaN(wanted) ? 0 : wanted, Offset.offset(2e-6));
                }
            }
            for (int i = 0; i < 3; i++) {
                assertThat(MachineCode.get(y, row * stride + n + i)).isEqualTo(MachineCode.POISON);
            }
        }
    }

    private void all(Softmax softmax) {
        for (int n = 1; n <= MOST; n++) {
            boolean special = n % 2 == 0;
            check(softmax, n, special, false, -1);
            check(softmax, n, special, true, -1);
            check(softmax, n, special, false, 0);
            check(softmax, n, special, true, n + 1L);
        }
        check(softmax, 4096, false, false, 0);
        check(softmax, SoftmaxKernel.MOST - 1, false, false, -1);
    }

    @ParameterizedTest
    @MethodSource("widths")
    void agreesWithFloat64(int lanes) {
        SoftmaxKernel kernel = SoftmaxKernel.make(lanes);
        all((form, x, mask, work, y) -> kernel.run(form, x, mask, work, y, arguments));
    }

    @ParameterizedTest
    @MethodSource("widths")
    void loopsWithoutMachineCodeAgree(int lanes) {
        Loops plain = new Loops();
        all((form, x, mask, work, y) -> plain.softmax(form, x, mask, work, y));
        assertThat(lanes).isPositive();
    }

    @ParameterizedTest
    @MethodSource("widths")
    void resultsPastTheCachesAreTheSame(int lanes) {
        SoftmaxKernel kernel = SoftmaxKernel.make(lanes);
        int n = 4 * lanes;
        MemorySegment x = MachineCode.random(ROWS * (long) n, random);
        MemorySegment work = MachineCode.poisoned(n);
        MemorySegment near = Arena.ofAuto().allocate(4L * ROWS * n, 64);
        MemorySegment far = Arena.ofAuto().allocate(4L * ROWS * n, 64);
        for (boolean stream : new boolean[] {false, true}) {
            Matrix y = new Matrix(stream ? far : near, 0, 4L * n);
            SoftmaxKernel.Form form = new SoftmaxKernel.Form(ROWS, n, 1, false, stream);
            kernel.run(form, new Matrix(x, 0, 4L * n), Matrix.NONE, new Matrix(work, 0, 0), y, arguments);
        }
        assertThat(near.mismatch(far)).isEqualTo(-1);
    }

    @ParameterizedTest
    @MethodSource("widths")
    void refusesWhatDoesNotFit(int lanes) {
        SoftmaxKernel kernel = SoftmaxKernel.make(lanes);
        SoftmaxKernel.Form form = SoftmaxKernel.Form.plain(2, 4);
        Matrix eight = new Matrix(MachineCode.poisoned(8), 0, 16);
        Matrix seven = new Matrix(MachineCode.poisoned(7), 0, 16);
        Matrix fixed = new Matrix(eight.memory().asReadOnly(), 0, 16);
        for (int i = 0; i < 4; i++) {
            Matrix[] all = {eight, eight, eight, eight};
            all[i] = seven;
            assertThatThrownBy(() -> kernel.run(form, all[0], all[1], all[2], all[3], arguments))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> kernel.run(form, eight, eight, eight, fixed, arguments))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> kernel.run(form, eight, eight, fixed, eight, arguments))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
