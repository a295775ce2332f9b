package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of every length up to some vectors and any number of taps, none among them, against float64. */
class BlendKernelTest {
    private static final int ROWS = 7;
    private static final int RESULTS = 9;
    private static final int PADDING = 3;

    private final MemorySegment arguments = MachineCode.arguments();
    private final Random random = new Random(23);

    static Iterable<Integer> widths() {
        return MachineCode.widths();
    }

    private void check(BlendKernel kernel, int n) {
        int[] starts = new int[RESULTS + 1];
        for (int result = 0; result < RESULTS; result++) {
            starts[result + 1] = starts[result] + random.nextInt(5);
        }
        int[] rows = random.ints(starts[RESULTS], 0, ROWS).toArray();
        float[] weights = new float[rows.length];
        for (int tap = 0; tap < weights.length; tap++) {
            weights[tap] = (float) random.nextGaussian();
        }
        MemorySegment x = MachineCode.random(ROWS * (long) n, random);
        MachineCode.set(x, random.nextInt(ROWS * n), Float.NaN);
        MachineCode.set(x, random.nextInt(ROWS * n), Float.NEGATIVE_INFINITY);
        long stride = n + PADDING;
        MemorySegment y = MachineCode.poisoned(RESULTS * stride);
        BlendKernel.Taps taps = new BlendKernel.Taps(starts, rows, weights, 4L * n);
        kernel.run(taps, n, new Place(x, 0), new Matrix(y, 0, 4 * stride), arguments);
        for (int result = 0; result < RESULTS; result++) {
            for (int i = 0; i < n; i++) {
                double wanted = 0;
                for (int tap = starts[result]; tap < starts[result + 1]; tap++) {
                    wanted += (double) weights[tap] * MachineCode.get(x, (long) rows[tap] * n + i);
                }
                assertThat((double) MachineCode.get(y, result * stride + i))
                        .as("%d floats, result %d, float %d", n, result, i)
                        .isCloseTo(wanted, Offset.offset(3e-6));
            }
            for (int i = n; i < stride; i++) {
                assertThat(MachineCode.get(y, result * stride + i)).isEqualTo(MachineCode.POISON);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void agreesWithFloat64(int lanes) {
        BlendKernel kernel = BlendKernel.make(lanes);
        for (int n = 1; n <= 140; n++) {
            check(kernel, n);
        }
        check(kernel, 512);
        check(kernel, 1027);
    }

    @ParameterizedTest
    @MethodSource("widths")
    void refusesWhatDoesNotFit(int lanes) {
        BlendKernel kernel = BlendKernel.make(lanes);
        BlendKernel.Taps taps = new BlendKernel.Taps(new int[] {0, 2, 3}, new int[] {0, 1, 2}, new float[3], 16);
        Place twelve = new Place(MachineCode.poisoned(12), 0);
        Place eleven = new Place(MachineCode.poisoned(11), 0);
        Matrix eight = new Matrix(MachineCode.poisoned(8), 0, 16);
        Matrix seven = new Matrix(MachineCode.poisoned(7), 0, 16);
        assertThatThrownBy(() -> kernel.run(taps, 4, eleven, eight, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(taps, 4, twelve, seven, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Matrix fixed = new Matrix(eight.memory().asReadOnly(), 0, 16);
        assertThatThrownBy(() -> kernel.run(taps, 4, twelve, fixed, arguments))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void tapsRefuseRowsBeforeTheFirstAndStartsThatFall() {
        float[] weights = new float[2];
        assertThatThrownBy(() -> new BlendKernel.Taps(new int[] {0, 2}, new int[] {0, -1}, weights, 16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
        assertThatThrownBy(() -> new BlendKernel.Taps(new int[] {0, 2, 1}, new int[] {0, 1}, weights, 16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("from 2 to 1");
    }
}
