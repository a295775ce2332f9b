package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.CpuRun;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Scalar and vector loops against double arithmetic, at every length and shift that could leave a tail. */
public class LoopsTest {
    private static final int MOST = 67;
    private static final MemorySegment X = Arena.ofAuto().allocate(4 * 200, 64);
    private static final MemorySegment Y = Arena.ofAuto().allocate(4 * 200, 64);
    private static final MemorySegment Z = Arena.ofAuto().allocate(4 * 200, 64);

    @BeforeAll
    static void useVectors() {
        CpuRun.useVectors();
    }

    static List<Loops> loops() {
        return AllLoops.list();
    }

    private static void fill(MemorySegment to, double scale) {
        for (int i = 0; i < 200; i++) {
            to.set(Loops.F32, 4L * i, (float) (scale * Math.sin(i * 1.7 + scale)));
        }
    }

    private static float at(MemorySegment from, long offset, int i) {
        return from.get(Loops.F32, offset + 4L * i);
    }

    /** Of the smallest numbers too, alike in all loops. */
    @ParameterizedTest
    @MethodSource("loops")
    public void exponentialsMayBeSubnormal(Loops loops) {
        for (int i = 0; i < 200; i++) {
            X.set(Loops.F32, 4L * i, -84.5f - i * 0.11f);
        }
        loops.expSum(X, 0, 0, Y, 0, 200);
        for (int i = 0; i < 200; i++) {
            double wanted = Math.exp(at(X, 0, i));
            assertThat((double) at(Y, 0, i)).as("e^" + at(X, 0, i)).isCloseTo(wanted, within(wanted * 3e-7 + 0x1p-149));
        }
        loops.softmax(
                SoftmaxKernel.Form.plain(1, 200),
                new Matrix(X, 0, 0),
                Matrix.NONE,
                new Matrix(Y, 0, 0),
                new Matrix(Y, 0, 0));
        double sum = 0;
        for (int i = 0; i < 200; i++) {
            sum += Math.exp((double) at(X, 0, i) - at(X, 0, 0));
        }
        double last = Math.exp((double) at(X, 0, 199) - at(X, 0, 0)) / sum;
        assertThat((double) at(Y, 0, 199)).isCloseTo(last, within(last * 6e-6));
        X.set(Loops.F32, 0, 0);
        loops.softmax(
                SoftmaxKernel.Form.plain(1, 200),
                new Matrix(X, 0, 0),
                Matrix.NONE,
                new Matrix(Y, 0, 0),
                new Matrix(Y, 0, 0));
        for (int i = 1; i < 200; i++) {
            double wanted = Math.exp(at(X, 0, i));
            assertThat((double) at(Y, 0, i)).as("e^" + at(X, 0, i)).isCloseTo(wanted, within(wanted * 6e-6 + 0x1p-149));
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    public void everyLengthAndShift(Loops loops) {
        fill(X, 3);
        fill(Y, 2);
        for (int n = 0; n <= MOST; n++) {
            for (long shift = 0; shift < 4; shift++) {
                long o = 4 * shift;
                double sum = 0;
                double max = Double.NEGATIVE_INFINITY;
                double expSum = 0;
                for (int i = 0; i < n; i++) {
                    sum += at(X, o, i);
                    max = Math.max(max, at(X, o, i));
                    expSum += Math.exp(at(X, o, i) - 1.5);
                }
                assertThat(loops.sum(X, o, n)).isCloseTo(sum, within(1e-5));
                assertThat(loops.max(X, o, n)).isEqualTo((float) max);
                Z.fill((byte) -1);
                assertThat(loops.expSum(X, o, 1.5f, Z, 0, n)).isCloseTo(expSum, within(1e-4));
                assertThat(at(Z, 0, n)).as("past the end").isNaN();
                loops.binary(BinaryFn.ADD, X, o, Y, 4, Z, 8, n);
                for (int i = 0; i < n; i++) {
                    assertThat(at(Z, 8, i)).isEqualTo(at(X, o, i) + at(Y, 4, i));
                }
                loops.moments(X, o, n, 0.25f, Z, 0);
                double squares = 0;
                for (int i = 0; i < n; i++) {
                    squares += Math.pow(at(X, o, i) - 0.25, 2);
                }
                assertThat(Z.get(Convert.F64, 0)).isCloseTo(sum - 0.25 * n, within(1e-4));
                assertThat(Z.get(Convert.F64, 8)).isCloseTo(squares, within(1e-3));
            }
        }
    }

    private static org.assertj.core.data.Offset<Double> within(double distance) {
        return org.assertj.core.data.Offset.offset(distance);
    }

    @ParameterizedTest
    @MethodSource("loops")
    void specialNumbersBeforeAndAfterCompilation(Loops loops) {
        float nan = Float.NaN;
        for (int round = 0; round < 20_000; round += round < 10 ? 1 : 1999) {
            for (int warm = 0; warm < (round < 10 ? 1 : 1999); warm++) {
                loops.max(X, 0, 64);
            }
            for (int position = 0; position < 40; position++) {
                fill(X, 1);
                X.set(Loops.F32, 4L * position, nan);
                assertThat(loops.max(X, 0, 40)).isNaN();
                loops.binary(BinaryFn.MAX, X, 0, Y, 0, Z, 0, 40);
                assertThat(at(Z, 0, position)).isNaN();
                loops.unary(Unary.of(UnaryFn.RELU), X, 0, Z, 0, 40);
                assertThat(at(Z, 0, position)).isNaN();
            }
        }
        X.fill((byte) 0);
        Y.set(Loops.F32, 0, -0f);
        loops.binary(BinaryFn.MAX, Y, 0, X, 0, Z, 0, 1);
        assertThat(Float.floatToRawIntBits(at(Z, 0, 0))).isZero();
        loops.binary(BinaryFn.MIN, Y, 0, X, 0, Z, 0, 1);
        assertThat(Float.floatToRawIntBits(at(Z, 0, 0))).isEqualTo(Float.floatToRawIntBits(-0f));
        assertThat(loops.max(X, 0, 0)).isEqualTo(Float.NEGATIVE_INFINITY);
    }

    @ParameterizedTest
    @MethodSource("loops")
    void exponentialsOfSpecialNumbers(Loops loops) {
        float[] x = {Float.NEGATIVE_INFINITY, -1000, -0f, 0, 88.9f, 1000, Float.POSITIVE_INFINITY, Float.NaN};
        for (int i = 0; i < 40; i++) {
            X.set(Loops.F32, 4L * i, x[i % x.length]);
        }
        loops.unary(Unary.of(UnaryFn.EXP), X, 0, Z, 0, 40);
        for (int i = 0; i < 40; i++) {
            assertThat(Float.valueOf(at(Z, 0, i))).isEqualTo(Float.valueOf((float) Math.exp(x[i % x.length])));
        }
    }

    @Test
    void segmentsOfOtherKindsAreReadToo() {
        Loops loops = Loops.current();
        float[] array = new float[64];
        array[17] = 5;
        assertThat(loops.max(MemorySegment.ofArray(array), 0, 64)).isEqualTo(5);
    }
}
