package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of every length up to some vectors, far from zero too, against float64. */
class NormKernelTest {
    private static final int MOST = 70;
    private static final int ROWS = 4;
    private static final float EPSILON = 1e-5f;

    private final MemorySegment arguments = MachineCode.arguments();
    private final Random random = new Random(17);

    static Iterable<Integer> widths() {
        return MachineCode.widths();
    }

    private void check(NormKernel kernel, int n, boolean rms, int parameters, float about) {
        long stride = n + 3L;
        MemorySegment x = MachineCode.random(ROWS * stride, random);
        for (long i = 0; i < ROWS * stride; i++) {
            MachineCode.set(x, i, MachineCode.get(x, i) + about);
        }
        MemorySegment y = MachineCode.poisoned(ROWS * stride);
        MemorySegment scale = MachineCode.random(n, random);
        MemorySegment bias = MachineCode.random(n, random);
        Place times = parameters > 0 ? new Place(scale, 0) : Place.NONE;
        Place plus = parameters > 1 ? new Place(bias, 0) : Place.NONE;
        Matrix to = new Matrix(y, 0, 4 * stride);
        NormKernel.Form form = new NormKernel.Form(ROWS, n, EPSILON, rms, false);
        assertThat(kernel.run(form, new Matrix(x, 0, 4 * stride), to, times, plus, arguments))
                .isEqualTo(ROWS);
        for (int row = 0; row < ROWS; row++) {
            double mean = 0;
            double variance = 0;
            for (int i = 0; i < n && !rms; i++) {
                mean += (double) MachineCode.get(x, row * stride + i) / n;
            }
            for (int i = 0; i < n; i++) {
                double difference = MachineCode.get(x, row * stride + i) - mean;
                variance += difference * difference / n;
            }
            for (int i = 0; i < n; i++) {
                double wanted = (MachineCode.get(x, row * stride + i) - mean) / Math.sqrt(variance + EPSILON);
                wanted *= parameters > 0 ? MachineCode.get(scale, i) : 1;
                wanted += parameters > 1 ? MachineCode.get(bias, i) : 0;
                assertThat((double) MachineCode.get(y, row * stride + i))
                        .as(n + " elements about " + about)
                        .isCloseTo(wanted, Offset.offset(3e-6 * (1 + Math.abs(wanted)) * (1 + Math.abs(about) / 50)));
            }
            for (int i = 0; i < 3; i++) {
                assertThat(MachineCode.get(y, row * stride + n + i)).isEqualTo(MachineCode.POISON);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void agreesWithFloat64(int lanes) {
        NormKernel kernel = NormKernel.make(lanes);
        for (int n = 1; n <= MOST; n++) {
            for (int parameters = 0; parameters <= 2; parameters++) {
                check(kernel, n, false, parameters, n % 3 == 0 ? 1000 : 0);
                check(kernel, n, true, parameters, 0);
            }
        }
        check(kernel, 4096, false, 2, 100);
    }

    /** As the definition says of such rows; in sums of f32 about zero they would have a deviation. */
    @ParameterizedTest
    @MethodSource("widths")
    void rowsOfEqualElementsAreExactlyTheBias(int lanes) {
        NormKernel kernel = NormKernel.make(lanes);
        for (int n : new int[] {1, 3, 67, 768, 3395, 4096}) {
            MemorySegment y = MachineCode.poisoned(n);
            Place scale = new Place(MachineCode.random(n, random), 0);
            MemorySegment bias = MachineCode.random(n, random);
            for (float value : new float[] {0.1f, -713.0547f, 9554.357f, 8660675f, 8.5025594e12f}) {
                MemorySegment x = MachineCode.poisoned(n);
                for (int i = 0; i < n; i++) {
                    MachineCode.set(x, i, value);
                }
                NormKernel.Form form = new NormKernel.Form(1, n, 1e-12f, false, false);
                Matrix to = new Matrix(y, 0, 4L * n);
                assertThat(kernel.run(form, new Matrix(x, 0, 4L * n), to, scale, new Place(bias, 0), arguments))
                        .isEqualTo(1);
                assertThat(y.mismatch(bias)).as(n + " of " + value).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void endsBeforeARowWhoseDeviationIsNoNumber(int lanes) {
        NormKernel kernel = NormKernel.make(lanes);
        int n = 20;
        for (float special : new float[] {Float.NaN, Float.POSITIVE_INFINITY, 3e30f}) {
            MemorySegment x = MachineCode.random(ROWS * (long) n, random);
            MachineCode.set(x, 2 * n + 7, special);
            MemorySegment y = MachineCode.poisoned(ROWS * (long) n);
            NormKernel.Form form = new NormKernel.Form(ROWS, n, EPSILON, false, false);
            Matrix to = new Matrix(y, 0, 4L * n);
            assertThat(kernel.run(form, new Matrix(x, 0, 4L * n), to, Place.NONE, Place.NONE, arguments))
                    .isEqualTo(2);
            assertThat(MachineCode.get(y, 2 * n - 1)).isNotEqualTo(MachineCode.POISON);
            assertThat(MachineCode.get(y, 2 * n)).isEqualTo(MachineCode.POISON);
        }
        MemorySegment equal = MachineCode.poisoned(n);
        equal.fill((byte) 0);
        NormKernel.Form exact = new NormKernel.Form(1, n, 0, false, false);
        Matrix row = new Matrix(equal, 0, 4L * n);
        assertThat(kernel.run(exact, row, row, Place.NONE, Place.NONE, arguments))
                .as("no epsilon")
                .isZero();
    }

    @ParameterizedTest
    @MethodSource("widths")
    void refusesWhatDoesNotFit(int lanes) {
        NormKernel kernel = NormKernel.make(lanes);
        NormKernel.Form form = new NormKernel.Form(2, 4, EPSILON, false, false);
        Matrix eight = new Matrix(MachineCode.poisoned(8), 0, 16);
        Matrix seven = new Matrix(MachineCode.poisoned(7), 0, 16);
        Place three = new Place(MachineCode.poisoned(3), 0);
        Place four = new Place(MachineCode.poisoned(4), 0);
        assertThatThrownBy(() -> kernel.run(form, seven, eight, four, four, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(form, eight, seven, four, four, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(form, eight, eight, three, four, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(form, eight, eight, four, three, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Matrix fixed = new Matrix(eight.memory().asReadOnly(), 0, 16);
        assertThatThrownBy(() -> kernel.run(form, eight, fixed, four, four, arguments))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @MethodSource("widths")
    void resultsPastTheCachesAreTheSame(int lanes) {
        NormKernel kernel = NormKernel.make(lanes);
        int n = 3 * lanes;
        MemorySegment x = MachineCode.random(ROWS * (long) n, random);
        Place scale = new Place(MachineCode.random(n, random), 0);
        for (Place times : new Place[] {Place.NONE, scale}) {
            for (Place plus : new Place[] {Place.NONE, times}) {
                MemorySegment near = Arena.ofAuto().allocate(4L * ROWS * n, 64);
                MemorySegment far = Arena.ofAuto().allocate(4L * ROWS * n, 64);
                for (boolean stream : new boolean[] {false, true}) {
                    Matrix y = new Matrix(stream ? far : near, 0, 4L * n);
                    NormKernel.Form form = new NormKernel.Form(ROWS, n, EPSILON, false, stream);
                    kernel.run(form, new Matrix(x, 0, 4L * n), y, times, plus, arguments);
                }
                assertThat(near.mismatch(far)).isEqualTo(-1);
            }
        }
    }
}
