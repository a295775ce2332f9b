package dev.tenon.cpu.packed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.contraction.BlockDecoder;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Products with constant packed weights, beside float64: panels that are not whole, rows that have no fixed point. */
class PackedPanelTest {
    /** Of f32: a few units in the last place of the largest terms. */
    private static final double ERROR = 1e-6;

    private static NdArray weights(BlockFormat format, Seeded random, int columns, int blocks) {
        NdArray packed = random.integers(DType.U8, 0, 255, columns, (long) blocks * format.bytes());
        for (int block = 0; block < columns * blocks; block++) {
            for (int half = 0; half < (format == BlockFormat.Q4_K ? 2 : 1); half++) {
                // the upper bytes of scales between 2^-9 and 4, of both signs
                long upper = random.nextLong(0x18, 0x43) | random.nextLong(0, 1) << 7;
                packed.set(block * format.bytes() + 2 * half + 1, upper);
            }
        }
        return packed;
    }

    private static void check(BlockFormat format, NdArray x, NdArray packed, NdArray y) {
        int rows = (int) x.shape().size(0);
        int depth = (int) x.shape().size(1);
        int columns = (int) packed.shape().size(0);
        double[] decoded = new double[depth];
        byte[] block = new byte[format.bytes()];
        for (int column = 0; column < columns; column++) {
            for (int b = 0; b < depth / format.elements(); b++) {
                for (int i = 0; i < block.length; i++) {
                    block[i] = (byte) packed.getLong((column * (depth / format.elements()) + b) * block.length + i);
                }
                BlockDecoder.decode(format, block, decoded, b * format.elements());
            }
            for (int row = 0; row < rows; row++) {
                double wanted = 0;
                double terms = 0;
                for (int k = 0; k < depth; k++) {
                    double product = decoded[k] * x.get(row * depth + k);
                    wanted += product;
                    terms += Math.abs(product);
                }
                double found = y.get(row * columns + column);
                if (Float.isFinite((float) wanted)) {
                    // Q4_K takes the sums of minima off the others, each as large as either
                    double error = ERROR * (format == BlockFormat.Q4_K ? 16 : 1);
                    assertThat(found)
                            .as(format + ", row " + row + ", column " + column)
                            .isCloseTo(wanted, within(error * terms + 1e-37));
                } else {
                    assertThat(found)
                            .as(format + ", row " + row + ", column " + column)
                            .isEqualTo(Double.valueOf((float) wanted)); // NaN is NaN
                }
            }
        }
    }

    private static void checkAll(BlockFormat format, NdArray x, NdArray packed) {
        NdArray first = null;
        for (int threads : new int[] {1, 2, 5}) {
            NdArray y = OneNode.of(new DequantMatMul(format), x, packed)
                    .constants()
                    .threads(threads)
                    .run()
                    .getFirst();
            if (first == null) {
                check(format, x, packed, y);
                first = y;
            }
            assertThat(y.toDoubles()).as(threads + " threads").containsExactly(first.toDoubles());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"Q8_0", "Q4_0", "Q4_K"})
    void agreesWithFloat64(BlockFormat format) {
        Seeded random = new Seeded(format.ordinal());
        for (int columns : new int[] {1, 15, 16, 17, 50}) {
            for (int blocks : new int[] {1, 3, 8}) {
                for (long rows : new long[] {1, 3, 67}) {
                    NdArray x = random.floats(DType.F32, -3, 3, rows, (long) blocks * format.elements());
                    checkAll(format, x, weights(format, random, columns, blocks));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"Q8_0", "Q4_0", "Q4_K"})
    void numbersOfEverySize(BlockFormat format) {
        Seeded random = new Seeded(1);
        int depth = 4 * format.elements();
        NdArray x = random.floats(DType.F32, -1, 1, 12, depth);
        for (int k = 0; k < depth; k++) {
            x.set(depth + k, 0.0);
            x.set(2 * depth + k, (float) (x.get(2 * depth + k) * 1e-33));
            x.set(3 * depth + k, (float) (x.get(3 * depth + k) * 1e30));
            x.set(4 * depth + k, (float) (x.get(4 * depth + k) * Math.pow(2, k % 64 - 32)));
        }
        x.set(5 * depth + 7, Double.NaN);
        x.set(6 * depth + 9, Double.POSITIVE_INFINITY);
        x.set(7 * depth + 9, Float.MAX_VALUE / 1e6);
        for (int k = 0; k < depth; k++) { // sums are beyond f32 before their scales
            x.set(8 * depth + k, (float) (x.get(8 * depth + k) * 3e38));
            x.set(9 * depth + k, (float) (k % 9 == 0 ? 3e37 : 1e35));
        }
        x.set(10 * depth + 11, Double.NEGATIVE_INFINITY);
        x.set(11 * depth + 1, Double.NEGATIVE_INFINITY);
        x.set(11 * depth + 40, Double.POSITIVE_INFINITY);
        checkAll(format, x, weights(format, random, 19, 4));
    }

    @ParameterizedTest
    @EnumSource(names = {"Q8_0", "Q4_0", "Q4_K"})
    void scalesThatAreNoNumbers(BlockFormat format) {
        Seeded random = new Seeded(2);
        NdArray packed = weights(format, random, 18, 2);
        packed.set(5 * 2 * format.bytes() + 1, 0x7DL);
        packed.set(17 * 2 * format.bytes(), 0L);
        packed.set(17 * 2 * format.bytes() + 1, 0x7CL);
        checkAll(format, random.floats(DType.F32, 0.5, 1, 2, 2L * format.elements()), packed);
    }
}
