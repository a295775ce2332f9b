package dev.tenon.cpu.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.keys.Keys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Extremes and the best few of every type, of rows and columns, against the operation's meaning. */
class KeysTest {
    private static final double[] SPECIAL = {
        Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0, -0.0, 1, -1
    };

    private static void check(Primitive op, NdArray x, int threads) {
        List<NdArray> found = OneNode.of(op, x).threads(threads).run();
        List<NdArray> wanted = op.evaluate(List.of(x));
        for (int r = 0; r < wanted.size(); r++) {
            for (int i = 0; i < wanted.get(r).size(); i++) {
                boolean floats = wanted.get(r).dtype().isFloat();
                Object a = floats
                        ? (Object) (found.get(r).get(i) + 0.0)
                        : found.get(r).getLong(i);
                Object b = floats
                        ? (Object) (wanted.get(r).get(i) + 0.0)
                        : wanted.get(r).getLong(i);
                assertThat(a)
                        .as("%s of %s, result %d, element %d", op, x.type(), r, i)
                        .isEqualTo(b);
            }
        }
    }

    private static void checkAll(NdArray x, int axis, int... ks) {
        for (boolean yes : new boolean[] {true, false}) {
            check(new ArgReduce(yes, axis, false, false), x, 2);
            check(new ArgReduce(yes, axis, true, true), x, 3);
            for (int k : ks) {
                check(new TopK((int) Math.min(k, x.type().shape().size(axis)), axis, yes, true), x, 2);
            }
        }
    }

    /** Few values, so that many are equal; of floats NaN, infinities and zeros of both signs among them. */
    private static NdArray few(DType dtype, long... sizes) {
        NdArray x = new Seeded(sizes.length).array(dtype, sizes);
        Random random = new Random(3);
        for (int i = 0; i < x.size(); i++) {
            if (dtype.isFloat()) {
                double value = SPECIAL[random.nextInt(SPECIAL.length)];
                x.set(i, dtype == DType.F8E4M3 && Double.isInfinite(value) ? Math.signum(value) * 448 : value);
            } else {
                x.set(i, random.nextInt(3) - (dtype.isUnsigned() ? 0 : 1));
            }
        }
        return x;
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"BOOL"})
    void rowsAndColumnsOfEveryType(DType dtype) {
        for (int[] size : new int[][] {{1, 1, 1}, {9, 3, 1}, {17, 63, 1}, {11, 64, 1}, {9, 600, 1}, {3, 5003, 1}}) {
            checkAll(new Seeded(size[1]).array(dtype, size[0], size[1]), 1, 1, 5);
            checkAll(few(dtype, size[0], size[1]), 1, 1, 5, 40);
        }
        for (int[] size : new int[][] {{1, 2, 2}, {2, 7, 33}, {1, 300, 70}, {2, 1030, 5}}) {
            checkAll(new Seeded(size[1]).array(dtype, size[0], size[1], size[2]), 1, 1, 9);
            checkAll(few(dtype, size[0], size[1], size[2]), 1, 3);
        }
    }

    /** Blocks side by side, what is left of them, and pieces that workers share. */
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"I8", "BF16", "F32", "I64", "U4"})
    void longRows(DType dtype) {
        int n = 20 * (1 << 17) * 8 / Math.max(8, dtype.bits()) + 1003;
        NdArray x = new Seeded(5).array(dtype, 1, n);
        checkAll(x, 1, 7);
        double best = dtype.isFloat() ? 8192 : Elements.toDouble(dtype, Elements.fromLong(dtype, 7));
        for (int[] places :
                new int[][] {{0, n - 1}, {n - 1, n - 1}, {n / 2, n / 2 + 1}, {5, n - 900}, {n - 3, n - 2}}) {
            NdArray y = new Seeded(6).array(dtype, 1, n);
            for (int i = 0; i < n; i++) {
                y.set(i, dtype.isFloat() ? 1 : 0);
            }
            for (int place : places) {
                y.set(place, best);
            }
            checkAll(y, 1, 3);
        }
    }

    /** All bits of elements of two bytes or less, and some of others: keys are in the order of values. */
    @ParameterizedTest
    @EnumSource(DType.class)
    void keysAreInTheOrderOfValues(DType dtype) {
        if (!Keys.has(dtype)) {
            return;
        }
        int count = dtype.bits() == 8 ? 256 : 5000;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment x = arena.allocate(8L * count, 8);
            Random random = new Random(7);
            for (int i = 0; i < count; i++) {
                Elements.setBits(dtype, x, i, dtype.bits() == 8 ? i : i < 4000 ? random.nextLong() : i - 4500);
            }
            for (boolean largest : new boolean[] {true, false}) {
                Keys extremes = Keys.ofExtremes(dtype, largest);
                Keys order = Keys.ofOrder(dtype, largest);
                for (int i = 0; i + 1 < count; i++) {
                    int other = random.nextInt(count);
                    long a = Order.key(dtype, x, i);
                    long b = Order.key(dtype, x, other);
                    int wanted = largest ? Long.compare(a, b) : Long.compare(b, a);
                    assertThat(Long.compare(order.key(x, i), order.key(x, other)))
                            .isEqualTo(wanted);
                    boolean aNaN = dtype.isFloat() && a == Long.MAX_VALUE;
                    boolean bNaN = dtype.isFloat() && b == Long.MAX_VALUE;
                    int extreme = aNaN || bNaN ? Boolean.compare(aNaN, bNaN) : wanted;
                    assertThat(Long.compare(extremes.key(x, i), extremes.key(x, other)))
                            .isEqualTo(extreme);
                }
            }
        }
    }

    @Test
    void lanesOfNoElementsAreNone() {
        NdArray x = new Seeded(1).array(DType.I32, 0, 9);
        check(new ArgReduce(true, 1, false, false), x, 2);
    }
}
