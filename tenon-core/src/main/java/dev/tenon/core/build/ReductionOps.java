package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.Sort;
import dev.tenon.core.ir.op.reduction.TopK;
import java.util.List;

/**
 * Adds reductions, running sums, orders. Axes may be negative, they then count from the back; no axes means all axes.
 *
 * <p>Errors: {@link dev.tenon.core.error.ShapeException} for an axis that is out of range or named twice,
 * {@link dev.tenon.core.error.DTypeException} for an element type that a function does not take.
 */
public interface ReductionOps extends OpBuilder {
    /**
     * Elements with their places.
     *
     * @param values of the input's type
     * @param indices i64, along the axis that was ordered
     */
    record Ranked(Value values, Value indices) {
        public Ranked {
            Require.nonNull(values, "values");
            Require.nonNull(indices, "indices");
        }

        private static Ranked of(List<Value> results) {
            return new Ranked(results.get(0), results.get(1));
        }
    }

    /**
     * Adds a reduction over those axes.
     *
     * @param keepDims whether the axes stay, with size 1
     * @param axes none for all
     */
    default Value reduce(ReduceFn fn, Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "reduce", Words.option("reduce", "fn", fn), x, keepDims, axes);
    }

    /** Adds the sum over those axes, which the result does not have. */
    default Value sum(Value x, int... axes) {
        return ReductionWords.reduce(this, "sum", ReduceFn.SUM, x, false, axes);
    }

    /** Adds the sum over those axes; they stay with size 1 where {@code keepDims}. */
    default Value sum(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "sum", ReduceFn.SUM, x, keepDims, axes);
    }

    /** Adds the mean over those axes, which the result does not have. */
    default Value mean(Value x, int... axes) {
        return ReductionWords.reduce(this, "mean", ReduceFn.MEAN, x, false, axes);
    }

    /** Adds the mean over those axes; they stay with size 1 where {@code keepDims}. */
    default Value mean(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "mean", ReduceFn.MEAN, x, keepDims, axes);
    }

    /** Adds the largest element over those axes, which the result does not have. */
    default Value max(Value x, int... axes) {
        return ReductionWords.reduce(this, "max", ReduceFn.MAX, x, false, axes);
    }

    /** Adds the largest element over those axes; they stay with size 1 where {@code keepDims}. */
    default Value max(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "max", ReduceFn.MAX, x, keepDims, axes);
    }

    /** Adds the smallest element over those axes, which the result does not have. */
    default Value min(Value x, int... axes) {
        return ReductionWords.reduce(this, "min", ReduceFn.MIN, x, false, axes);
    }

    /** Adds the smallest element over those axes; they stay with size 1 where {@code keepDims}. */
    default Value min(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "min", ReduceFn.MIN, x, keepDims, axes);
    }

    /** Adds the product over those axes, which the result does not have. */
    default Value prod(Value x, int... axes) {
        return ReductionWords.reduce(this, "prod", ReduceFn.PROD, x, false, axes);
    }

    /** Adds the product over those axes; they stay with size 1 where {@code keepDims}. */
    default Value prod(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "prod", ReduceFn.PROD, x, keepDims, axes);
    }

    /** Adds whether any boolean is true over those axes, which the result does not have. */
    default Value any(Value x, int... axes) {
        return ReductionWords.reduce(this, "any", ReduceFn.ANY, x, false, axes);
    }

    /** Adds whether any boolean is true over those axes; they stay with size 1 where {@code keepDims}. */
    default Value any(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "any", ReduceFn.ANY, x, keepDims, axes);
    }

    /** Adds whether all booleans are true over those axes, which the result does not have. */
    default Value all(Value x, int... axes) {
        return ReductionWords.reduce(this, "all", ReduceFn.ALL, x, false, axes);
    }

    /** Adds whether all booleans are true over those axes; they stay with size 1 where {@code keepDims}. */
    default Value all(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "all", ReduceFn.ALL, x, keepDims, axes);
    }

    /** Adds the sum of absolute values over those axes, which the result does not have. */
    default Value l1Norm(Value x, int... axes) {
        return ReductionWords.reduce(this, "l1Norm", ReduceFn.L1, x, false, axes);
    }

    /** Adds the sum of absolute values over those axes; they stay with size 1 where {@code keepDims}. */
    default Value l1Norm(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "l1Norm", ReduceFn.L1, x, keepDims, axes);
    }

    /** Adds the square root of the sum of squares over those axes, which the result does not have. */
    default Value l2Norm(Value x, int... axes) {
        return ReductionWords.reduce(this, "l2Norm", ReduceFn.L2, x, false, axes);
    }

    /** Adds the square root of the sum of squares over those axes; they stay with size 1 where {@code keepDims}. */
    default Value l2Norm(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "l2Norm", ReduceFn.L2, x, keepDims, axes);
    }

    /** Adds log(sum(e^x)), without overflow over those axes, which the result does not have. */
    default Value logSumExp(Value x, int... axes) {
        return ReductionWords.reduce(this, "logSumExp", ReduceFn.LOG_SUM_EXP, x, false, axes);
    }

    /** Adds log(sum(e^x)), without overflow over those axes; they stay with size 1 where {@code keepDims}. */
    default Value logSumExp(Value x, boolean keepDims, int... axes) {
        return ReductionWords.reduce(this, "logSumExp", ReduceFn.LOG_SUM_EXP, x, keepDims, axes);
    }

    /**
     * Adds the index of the largest element along an axis, which the result does not have; the first of equals. i64.
     */
    default Value argMax(Value x, int axis) {
        return argMax(x, axis, false);
    }

    /** Adds the index of the largest element along an axis, which stays with size 1 where {@code keepDims}. */
    default Value argMax(Value x, int axis, boolean keepDims) {
        return add(new ArgReduce(true, Words.axis("arg_max", x, axis), keepDims, false), x);
    }

    /**
     * Adds the index of the smallest element along an axis, which the result does not have; the first of equals. i64.
     */
    default Value argMin(Value x, int axis) {
        return argMin(x, axis, false);
    }

    /** Adds the index of the smallest element along an axis, which stays with size 1 where {@code keepDims}. */
    default Value argMin(Value x, int axis, boolean keepDims) {
        return add(new ArgReduce(false, Words.axis("arg_min", x, axis), keepDims, false), x);
    }

    /** Adds the k largest elements along an axis, the largest first. */
    default Ranked topK(Value x, long k, int axis) {
        int from = Words.axis("top_k", x, axis);
        return Ranked.of(addAll(Words.named("top_k", () -> new TopK(k, from, true, true)), List.of(x)));
    }

    /** Adds the k smallest elements along an axis, the smallest first. */
    default Ranked bottomK(Value x, long k, int axis) {
        int from = Words.axis("top_k", x, axis);
        return Ranked.of(addAll(Words.named("top_k", () -> new TopK(k, from, false, true)), List.of(x)));
    }

    /** Adds all elements of an axis in order; equal ones keep theirs. */
    default Ranked sort(Value x, int axis, boolean descending) {
        return Ranked.of(addAll(new Sort(Words.axis("sort", x, axis), descending), List.of(x)));
    }

    /** Adds the sums of each element and those before it along an axis. */
    default Value cumsum(Value x, int axis) {
        return add(new Cumulative(CumulativeFn.SUM, Words.axis("cumsum", x, axis), false, false), x);
    }

    /** Adds the products of each element and those before it along an axis. */
    default Value cumprod(Value x, int axis) {
        return add(new Cumulative(CumulativeFn.PROD, Words.axis("cumprod", x, axis), false, false), x);
    }
}
