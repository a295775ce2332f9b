package dev.tenon.cpu.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Long rows and columns: float64 sums beside, and the same bits for any number of workers. */
class LongReductionsTest {
    private static final int LONG = (1 << 18) + 77;

    private static NdArray same(Op op, NdArray x) {
        NdArray one = OneNode.of(op, x).run().getFirst();
        for (int threads : new int[] {2, 5}) {
            NdArray several = OneNode.of(op, x).threads(threads).run().getFirst();
            for (int i = 0; i < one.size(); i++) {
                assertThat(Double.doubleToRawLongBits(several.get(i)))
                        .as(op + ", element " + i + ", " + threads + " threads")
                        .isEqualTo(Double.doubleToRawLongBits(one.get(i)));
            }
        }
        return one;
    }

    /** The reduction of elements {@code step} apart. */
    private static double reference(ReduceFn fn, NdArray x, int first, int step, int count) {
        double max = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            max = Math.max(max, x.get(first + i * step));
        }
        double running = Fold.start(fn);
        for (int i = 0; i < count; i++) {
            running = Fold.join(fn, running, x.get(first + i * step), max);
        }
        return Fold.finish(fn, running, count, max);
    }

    private static NdArray numbers(DType dtype, ReduceFn fn, long... sizes) {
        NdArray x = new Seeded(fn.ordinal()).floats(dtype, -1, 1, sizes);
        for (int i = 0; i < x.size(); i++) {
            switch (fn) {
                case PROD -> x.set(i, 1 + x.get(i) / 1024);
                case LOG_SUM -> x.set(i, x.get(i) + 1.5);
                case SUM, MEAN, MAX, MIN, L1, L2, LOG_SUM_EXP, SUM_SQUARE, ANY, ALL -> {}
            }
        }
        return x;
    }

    @ParameterizedTest
    @EnumSource(
            value = ReduceFn.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ANY", "ALL"})
    void rows(ReduceFn fn) {
        for (DType dtype : List.of(DType.F32, DType.BF16)) {
            NdArray x = numbers(dtype, fn, 3, LONG);
            if (fn == ReduceFn.PROD && dtype != DType.F32) {
                continue; // whose numbers near 1 are too few
            }
            NdArray y = same(new Reduce(fn, List.of(1), false), x);
            double error = dtype == DType.F32 ? 4e-5 : 0x1p-7;
            for (int row = 0; row < 3; row++) {
                double wanted = reference(fn, x, row * LONG, 1, LONG);
                assertThat(y.get(row)).isCloseTo(wanted, within(error * (1 + Math.abs(wanted))));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ReduceFn.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ANY", "ALL"})
    void rowsWithoutANumberAreNotOthers(ReduceFn fn) {
        NdArray x = numbers(DType.F32, fn, 3, LONG);
        x.set(LONG + 65_536, Double.NaN);
        x.set(2 * LONG + 99_999, Double.POSITIVE_INFINITY);
        NdArray y = same(new Reduce(fn, List.of(1), false), x);
        assertThat(y.get(0)).isFinite();
        assertThat(y.get(1)).isNaN();
        assertThat(y.get(2)).isEqualTo(reference(fn, x, 2 * LONG, 1, LONG), within(1e-3));
    }

    /** Rows that begin near their largest or far below it, and rows without a number. */
    @Test
    void logarithmsOfSumsOfExponentialsOfManyRows() {
        for (int n : new int[] {16, 17, 31, 255, 256, 1000, 4096}) {
            int rows = 8 * 5 + 3;
            NdArray x = new Seeded(n).floats(DType.F32, -2, 2, rows, n);
            for (int row = 0; row < rows; row++) {
                int first = row * n;
                switch (row % 10) {
                    case 1 -> x.set(first + n - 1, 15);
                    case 2 -> x.set(first + n - 1, 17.5);
                    case 3 -> x.set(first + n / 2, 300);
                    case 4 -> x.set(first, 90);
                    case 5 -> x.set(first + n - 2, Double.NaN);
                    case 6 -> x.set(first + n - 1, Double.POSITIVE_INFINITY);
                    case 7 -> fill(x, first, n - 1, Double.NEGATIVE_INFINITY);
                    case 8 -> fill(x, first, n, Double.NEGATIVE_INFINITY);
                    case 9 -> fill(x, first, n, -1e30);
                    default -> {}
                }
            }
            NdArray y = same(new Reduce(ReduceFn.LOG_SUM_EXP, List.of(1), false), x);
            for (int row = 0; row < rows; row++) {
                double max = reference(ReduceFn.MAX, x, row * n, 1, n);
                double wanted = Double.isInfinite(max) ? max : reference(ReduceFn.LOG_SUM_EXP, x, row * n, 1, n);
                double found = y.get(row);
                boolean close = Math.abs(found - wanted) <= 2e-6 * (1 + Math.abs(wanted));
                assertThat(close || Double.valueOf(found).equals(wanted))
                        .as("row %d of %d elements: %s for %s", row, n, found, wanted)
                        .isTrue();
            }
        }
    }

    private static void fill(NdArray x, int first, int n, double value) {
        for (int i = 0; i < n; i++) {
            x.set(first + i, value);
        }
    }

    /** Two columns and more than a tile has; chunks of rows, and rows that are left. */
    @ParameterizedTest
    @EnumSource(
            value = ReduceFn.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ANY", "ALL"})
    void columns(ReduceFn fn) {
        for (int columns : new int[] {2, 3, 37, 700, 1025}) {
            int rows = (1 << 20) / columns + 1;
            for (DType dtype : List.of(DType.F32, DType.F16)) {
                if (fn == ReduceFn.PROD && dtype != DType.F32) {
                    continue; // whose numbers near 1 are too few
                }
                NdArray x = numbers(dtype, fn, rows, columns);
                x.set(columns + 1, Double.NaN);
                NdArray y = same(new Reduce(fn, List.of(0), false), x);
                double error = dtype == DType.F32 ? 4e-5 : 0x1p-9;
                for (int column = 0; column < columns; column += columns / 32 + 1) {
                    double wanted = reference(fn, x, column, columns, rows);
                    if (column == 1) {
                        assertThat(y.get(1)).isNaN();
                    } else if (dtype == DType.F32 || Math.abs(wanted) < 60_000) {
                        assertThat(y.get(column))
                                .as(fn + ", column " + column + " of " + columns)
                                .isCloseTo(wanted, within(error * (1 + Math.abs(wanted))));
                    }
                }
            }
        }
    }

    /** Infinities and zeros of both signs, and NaN of both signs with the least and the most of their bits set. */
    @Test
    void extremesOfColumnsOfSpecialNumbers() {
        int[] special = {
            0x7F80_0000,
            0xFF80_0000,
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x7F7F_FFFF,
            0xFF7F_FFFF,
            0x7F80_0001,
            0x7FFF_FFFF,
            0xFF80_0001,
            0xFFFF_FFFF
        };
        int columns = special.length * special.length;
        for (int rows : new int[] {2, 9, 37, 400}) {
            NdArray x = NdArray.zeros(DType.F32, rows, columns);
            for (int i = 0; i < x.size(); i++) {
                int column = i % columns;
                int bits = special[i / columns % 2 == 0 ? column % special.length : column / special.length];
                x.set(i, Float.intBitsToFloat(bits));
            }
            for (ReduceFn fn : new ReduceFn[] {ReduceFn.MAX, ReduceFn.MIN}) {
                NdArray y = same(new Reduce(fn, List.of(0), false), x);
                for (int column = 0; column < columns; column++) {
                    float a = (float) x.get(column);
                    float b = (float) x.get(columns + column);
                    float wanted = fn == ReduceFn.MAX ? Math.max(a, b) : Math.min(a, b);
                    assertThat((float) y.get(column))
                            .as("%s of %s and %s in %d rows", fn, a, b, rows)
                            .isEqualTo(Float.valueOf(wanted));
                }
            }
        }
    }

    @Test
    void sumsOfColumnsOverflowNoEarlierThanDoubles() {
        NdArray x = NdArray.zeros(DType.F32, 4096, 8);
        for (int i = 0; i < x.size(); i++) {
            x.set(i, i / 8 % 2048 < 1024 ? 3e38 : -3e38);
        }
        NdArray y = same(new Reduce(ReduceFn.SUM, List.of(0), false), x);
        for (int column = 0; column < 8; column++) {
            assertThat(y.get(column)).isZero();
        }
    }

    @Test
    void whereExtremesAre() {
        for (boolean max : new boolean[] {true, false}) {
            for (boolean last : new boolean[] {true, false}) {
                for (double special : new double[] {0, 2, -2, Double.NaN, Double.POSITIVE_INFINITY}) {
                    NdArray x = new Seeded(9).floats(DType.F32, -1, 1, 2, LONG);
                    for (int i : new int[] {5000, 5001, 99_000, LONG - 1}) {
                        x.set(i, special);
                    }
                    if (special == 0) { // zeros of both signs alone
                        for (int i = 0; i < LONG; i++) {
                            x.set(i, i % 3 == 0 ? -0.0 : 0.0);
                        }
                    }
                    NdArray y = same(new ArgReduce(max, 1, false, last), x);
                    for (int row = 0; row < 2; row++) {
                        assertThat(y.getLong(row))
                                .as("max " + max + ", last " + last + ", " + special)
                                .isEqualTo(where(x, row, max, last));
                    }
                }
            }
        }
    }

    private static int where(NdArray x, int row, boolean max, boolean last) {
        int best = 0;
        for (int i = 1; i < LONG; i++) {
            double value = x.get(row * LONG + i);
            double known = x.get(row * LONG + best);
            boolean equal = value == known || (Double.isNaN(value) && Double.isNaN(known));
            boolean better = !Double.isNaN(known) && (Double.isNaN(value) || (max ? value > known : value < known));
            best = better || (equal && last) ? i : best;
        }
        return best;
    }

    /** Each worker's workspace is as large as the one in which the pieces of long lanes meet. */
    @Test
    void topKOfLongLanesTakesLittleMemory() {
        TensorType lanes = TensorType.of(DType.F32, 16, 1 << 26);
        assertThat(OneNode.workspaceBytes(new TopK(4096, 1, true, true), 64, lanes))
                .isLessThan(8 << 20);
        assertThat(OneNode.workspaceBytes(new TopK(1, 1, true, true), 64, lanes))
                .isLessThan(8 << 20);
    }
}
