package dev.tenon.cpu.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** What looks for elements or adds them up along an axis that is not the last, against the operation's meaning. */
class ColumnSelectionTest {
    private static final double[] SPECIAL = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0, -0.0, 2
    };

    private static void check(Primitive op, NdArray x) {
        List<NdArray> found = OneNode.of(op, x).threads(2).run();
        List<NdArray> wanted = op.evaluate(List.of(x));
        for (int r = 0; r < wanted.size(); r++) {
            NdArray a = found.get(r);
            NdArray b = wanted.get(r);
            for (int i = 0; i < b.size(); i++) {
                boolean same = b.dtype().isFloat()
                        ? Double.isNaN(b.get(i)) ? Double.isNaN(a.get(i)) : (float) a.get(i) == (float) b.get(i)
                        : a.getLong(i) == b.getLong(i);
                if (!same) {
                    throw new AssertionError(op + " of " + x.type() + ", result " + r + ", element " + i);
                }
            }
        }
    }

    private static NdArray numbers(DType dtype, int[] size, IntUnaryOperator special) {
        NdArray x = new Seeded(size[1]).floats(dtype, -2, 2, size[0], size[1], size[2]);
        for (int i = 0; i < x.size(); i++) {
            int which = special.applyAsInt(i);
            if (which >= 0) {
                x.set(i, SPECIAL[which % SPECIAL.length]);
            }
        }
        return x;
    }

    @Test
    void extremesSumsAndTheBestOfColumns() {
        for (int[] size :
                new int[][] {{1, 1, 2}, {3, 7, 2}, {2, 8, 17}, {1, 9, 33}, {2, 21, 1030}, {1, 3001, 3}, {4, 130, 40}}) {
            for (DType dtype : List.of(DType.F32, DType.F16, DType.F64)) {
                // few special elements; many, so that they are equal; zeros of both signs alone
                for (IntUnaryOperator special : List.<IntUnaryOperator>of(
                        i -> i % 53 == 7 ? i / 53 : -1, i -> i * 7919 % 11 < 8 ? i : -1, i -> 3 + (i * 31 >> 3 & 1))) {
                    NdArray x = numbers(dtype, size, special);
                    for (boolean yes : new boolean[] {true, false}) {
                        check(new ArgReduce(yes, 1, false, false), x);
                        check(new ArgReduce(yes, 1, true, true), x);
                        for (int k : new int[] {1, 3, 8, 9}) {
                            check(new TopK(Math.min(k, size[1]), 1, yes, true), x);
                        }
                    }
                }
            }
        }
    }

    /** Chunks of rows, and rows that are left; the best of a column comes again in other chunks. */
    @Test
    void placesOfTallColumns() {
        for (int[] size : new int[][] {{1, 70_001, 5}, {2, 9_000, 37}, {1, 3_003, 130}, {1, 700, 1030}}) {
            NdArray equal = numbers(DType.F32, size, i -> i * 31 % 7 == 0 ? 5 : 3);
            NdArray few = numbers(DType.F32, size, i -> i % 1009 == 0 ? i / 1009 % 5 + 1 : -1);
            NdArray late = numbers(DType.F32, size, i -> i > size[1] * size[2] * size[0] - 3 ? 1 : 2);
            for (NdArray x : List.of(equal, few, late)) {
                for (boolean yes : new boolean[] {true, false}) {
                    check(new ArgReduce(yes, 1, false, false), x);
                    check(new ArgReduce(yes, 1, true, true), x);
                }
            }
        }
    }

    @Test
    void negativeNaN() {
        NdArray x = numbers(DType.F32, new int[] {1, 12, 20}, i -> -1);
        x.set(45, Float.intBitsToFloat(0xFFC0_0001));
        x.set(145, Float.NaN);
        for (boolean max : new boolean[] {true, false}) {
            NdArray y = OneNode.of(new ArgReduce(max, 1, false, false), x).run().getFirst();
            assertThat(y.getLong(5)).isEqualTo(2);
        }
    }

    /** Of lanes of NaN but for a few. */
    @Test
    void theBestOfMoreNaNThanNumbers() {
        NdArray x = numbers(DType.F32, new int[] {2, 9, 40}, i -> i % 7 == 3 ? -1 : 0);
        for (boolean largest : new boolean[] {true, false}) {
            for (int k = 1; k <= 9; k++) {
                check(new TopK(k, 1, largest, true), x);
            }
        }
    }

    @Test
    void runningSumsOfOtherTypes() {
        for (int[] size : new int[][] {{3, 70, 2}, {2, 21, 1030}, {1, 300, 33}}) {
            for (boolean exclusive : new boolean[] {true, false}) {
                Cumulative op = new Cumulative(CumulativeFn.SUM, 1, exclusive, !exclusive);
                check(op, numbers(DType.F64, size, i -> i % 907 == 5 ? i : -1));
                for (DType dtype : List.of(DType.I64, DType.I32, DType.U8, DType.I16)) {
                    check(op, new Seeded(size[1]).array(dtype, size[0], size[1], size[2]));
                }
            }
        }
    }

    /** Results that are too large for the caches, in whole lines. */
    @Test
    void longRunningSums() {
        NdArray x = new Seeded(9).floats(DType.F32, -2, 2, 1, 4099, 1040);
        check(new Cumulative(CumulativeFn.SUM, 1, false, false), x);
        check(new Cumulative(CumulativeFn.SUM, 1, true, true), x);
    }

    @Test
    void runningSums() {
        for (int[] size : new int[][] {{1, 1, 2}, {3, 70, 2}, {2, 21, 1030}, {1, 300, 33}}) {
            for (CumulativeFn fn : CumulativeFn.values()) {
                for (boolean exclusive : new boolean[] {true, false}) {
                    for (boolean reverse : new boolean[] {true, false}) {
                        check(
                                new Cumulative(fn, 1, exclusive, reverse),
                                numbers(DType.F32, size, i -> i % 907 == 5 ? i : -1));
                    }
                }
            }
        }
    }
}
