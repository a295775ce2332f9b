package dev.tenon.cpu.norm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Softmax over axes that are not the last, against float64: awkward sizes, and columns without a number. */
class ColumnSoftmaxTest {
    /** Slabs, rows, columns: one group of rows and its rest, panels and their rest, rows together, chunks. */
    private static final int[][] SIZES = {
        {1, 1, 2},
        {3, 2, 3},
        {2, 3, 17},
        {1, 7, 33},
        {2, 8, 16},
        {5, 9, 31},
        {2, 21, 1030},
        {300, 50, 2},
        {1, 1031, 48},
        {2, 4100, 37},
        {1, 70_001, 3},
        {2, 40_003, 32},
        {1, 9001, 300},
        {1, 2500, 1100}
    };

    private static NdArray numbers(DType dtype, int[] size) {
        NdArray x = new Seeded(size[1]).floats(dtype, -6, 6, size[0], size[1], size[2]);
        int row = size[2];
        // the first row of the first two columns, the last of the third; one column of -infinity alone
        x.set(0, Double.NEGATIVE_INFINITY);
        x.set(1, -0.0);
        if (row > 3 && size[1] > 1) {
            x.set(2 + (size[1] - 1) * row, Double.NaN);
            x.set(row - 1, Double.POSITIVE_INFINITY);
            for (int i = 0; i < size[1]; i++) {
                x.set(3 + i * row, Double.NEGATIVE_INFINITY);
            }
        }
        return x;
    }

    private static void check(DType dtype, int[] size, boolean log) {
        NdArray x = numbers(dtype, size);
        Op op = log ? new LogSoftmax(1) : new Softmax(1);
        NdArray y = OneNode.of(op, x).threads(2).run().getFirst();
        double error = switch (dtype) {
            case F32 -> 2e-6;
            case F16 -> 2e-3;
            case BF16 -> 2e-2;
            default -> 1e-12;
        };
        int row = size[2];
        for (int slab = 0; slab < size[0]; slab++) {
            for (int j = 0; j < row; j++) {
                int first = slab * size[1] * row + j;
                double most = Double.NEGATIVE_INFINITY;
                for (int i = 0; i < size[1]; i++) {
                    most = Math.max(most, x.get(first + i * row));
                }
                double sum = 0;
                for (int i = 0; i < size[1]; i++) {
                    sum += Math.exp(x.get(first + i * row) - most);
                }
                for (int i = 0; i < size[1]; i += 1 + size[1] / 60) {
                    double difference = x.get(first + i * row) - most;
                    double wanted = log ? difference - Math.log(sum) : Math.exp(difference) / sum;
                    String place =
                            op + " of " + dtype + ", slab " + slab + ", row " + i + ", column " + j + " of " + row;
                    double found = y.get(first + i * row);
                    if (Double.isNaN(wanted) || Double.isInfinite(wanted)) {
                        assertThat(found).as(place).isEqualTo(Double.valueOf(wanted));
                    } else {
                        assertThat(found)
                                .as(place)
                                .isCloseTo(
                                        wanted,
                                        within(error * (log ? 8 : wanted) + (dtype == DType.F16 ? 3e-8 : 1e-12)));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F32", "F16", "BF16", "F64"})
    void awkwardSizes(DType dtype) {
        for (int[] size : SIZES) {
            check(dtype, size, false);
            check(dtype, size, true);
        }
    }

    @Test
    void equalElementsShareOneExactly() {
        NdArray x = NdArray.zeros(DType.F32, 4, 40);
        NdArray y = OneNode.of(new Softmax(0), x).run().getFirst();
        for (int i = 0; i < x.size(); i++) {
            assertThat(y.get(i)).isEqualTo(0.25);
        }
    }

    /** Chunks of rows do not depend on the number of workers. */
    @Test
    void workersDoNotChangeResults() {
        NdArray x = new Seeded(3).floats(DType.F32, -3, 3, 30_001, 33);
        NdArray one = OneNode.of(new Softmax(0), x).run().getFirst();
        NdArray five = OneNode.of(new Softmax(0), x).threads(5).run().getFirst();
        for (int i = 0; i < one.size(); i++) {
            if (one.get(i) != five.get(i)) {
                throw new AssertionError("element " + i);
            }
        }
    }
}
