package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.reference.Summation;
import java.util.function.IntToDoubleFunction;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/** The reductions of one set of elements to one. */
final class Reductions {
    private Reductions() {}

    static double floats(ReduceFn fn, int count, IntToDoubleFunction x) {
        return switch (fn) {
            case SUM -> Summation.sum(count, x);
            case MEAN -> Summation.sum(count, x) / count;
            case MAX -> IntStream.range(0, count).mapToDouble(x).reduce(Double.NEGATIVE_INFINITY, Math::max);
            case MIN -> IntStream.range(0, count).mapToDouble(x).reduce(Double.POSITIVE_INFINITY, Math::min);
            case PROD -> IntStream.range(0, count).mapToDouble(x).reduce(1, (a, b) -> a * b);
            case L1 -> Summation.sum(count, i -> Math.abs(x.applyAsDouble(i)));
            case L2 -> Math.sqrt(sumSquare(count, x));
            case LOG_SUM -> Math.log(Summation.sum(count, x));
            case LOG_SUM_EXP -> logSumExp(count, x);
            case SUM_SQUARE -> sumSquare(count, x);
            case ANY, ALL -> throw new UnsupportedException("reduce: any and all take booleans, have floats");
        };
    }

    private static double sumSquare(int count, IntToDoubleFunction x) {
        return Summation.sum(count, i -> x.applyAsDouble(i) * x.applyAsDouble(i));
    }

    private static double logSumExp(int count, IntToDoubleFunction x) {
        double max = floats(ReduceFn.MAX, count, x);
        // an infinite maximum is the answer itself, and would make NaN of the differences
        return Double.isInfinite(max)
                ? max
                : max + Math.log(Summation.sum(count, i -> Math.exp(x.applyAsDouble(i) - max)));
    }

    /**
     * Reduces the elements of {@code x} at {@code base} plus each of {@code members} into one element of {@code y};
     * sums wrap, so their order does not matter.
     */
    static void integers(ReduceFn fn, NdArray x, int base, int[] members, NdArray y, int at) {
        switch (fn) {
            case SUM -> y.set(at, sum(x, base, members, a -> a));
            case L1 -> y.set(at, sum(x, base, members, a -> x.dtype().isUnsigned() ? a : Math.abs(a)));
            case SUM_SQUARE -> y.set(at, sum(x, base, members, a -> a * a));
            case MEAN -> {
                if (members.length == 0) {
                    throw new DataException("reduce mean: of no " + x.dtype() + " elements; expected one or more");
                }
                long sum = sum(x, base, members, a -> a);
                y.set(at, BinaryFn.DIV.apply(x.dtype(), sum, members.length));
            }
            case PROD -> {
                long product = 1;
                for (int member : members) {
                    product *= x.getLong(base + member);
                }
                y.set(at, product);
            }
            case MAX, MIN -> {
                BinaryFn pick = fn == ReduceFn.MAX ? BinaryFn.MAX : BinaryFn.MIN;
                long best = x.getLong(base + members[0]);
                for (int member : members) {
                    best = pick.apply(x.dtype(), best, x.getLong(base + member));
                }
                y.set(at, best);
            }
            case ANY, ALL -> {
                boolean any = fn == ReduceFn.ANY;
                boolean result = !any;
                for (int member : members) {
                    boolean element = x.getLong(base + member) != 0;
                    result = any ? result || element : result && element;
                }
                y.set(at, result ? 1L : 0L);
            }
            case L2, LOG_SUM, LOG_SUM_EXP -> y.set(at, floats(fn, members.length, j -> x.get(base + members[j])));
        }
    }

    private static long sum(NdArray x, int base, int[] members, LongUnaryOperator term) {
        long sum = 0;
        for (int member : members) {
            sum += term.applyAsLong(x.getLong(base + member));
        }
        return sum;
    }
}
