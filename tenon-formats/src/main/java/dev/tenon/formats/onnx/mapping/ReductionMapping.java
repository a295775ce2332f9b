package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.ReduceBy;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.reduction.TopKBy;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Sums and the like over axes, arg-max, running sums, the largest k. */
final class ReductionMapping {
    private ReductionMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            // axes became an input in opset 13 for the sum, in 18 for all the others
            case "ReduceSum" -> List.of(reduce(n, ReduceFn.SUM, n.since(13)));
            case "ReduceMean" -> List.of(reduce(n, ReduceFn.MEAN, n.since(18)));
            case "ReduceMax" -> List.of(reduce(n, isBool(n) ? ReduceFn.ANY : ReduceFn.MAX, n.since(18)));
            case "ReduceMin" -> List.of(reduce(n, isBool(n) ? ReduceFn.ALL : ReduceFn.MIN, n.since(18)));
            case "ReduceProd" -> List.of(reduce(n, ReduceFn.PROD, n.since(18)));
            case "ReduceL1" -> List.of(reduce(n, ReduceFn.L1, n.since(18)));
            case "ReduceL2" -> List.of(reduce(n, ReduceFn.L2, n.since(18)));
            case "ReduceLogSum" -> List.of(reduce(n, ReduceFn.LOG_SUM, n.since(18)));
            case "ReduceLogSumExp" -> List.of(reduce(n, ReduceFn.LOG_SUM_EXP, n.since(18)));
            case "ReduceSumSquare" -> List.of(reduce(n, ReduceFn.SUM_SQUARE, n.since(18)));
            case "ArgMax" -> List.of(arg(n, true));
            case "ArgMin" -> List.of(arg(n, false));
            case "CumSum" -> List.of(cumulative(n, CumulativeFn.SUM));
            case "CumProd" -> List.of(cumulative(n, CumulativeFn.PROD));
            case "TopK" -> n.since(10) ? topKByInput(n) : topK(n, n.attrInt("k"), true, true);
            default -> throw OnnxOps.unlisted(n);
        };
    }

    private static boolean isBool(NodeContext n) {
        return n.in(0).dtype() == DType.BOOL;
    }

    private static Value reduce(NodeContext n, ReduceFn fn, boolean axesAreAnInput) {
        boolean keepDims = n.attrFlag("keepdims", true);
        boolean noop = n.attrFlag("noop_with_empty_axes", false);
        Value x = n.in(0);
        boolean nothing = x.shape().isConcrete() && x.shape().elements() == 0;
        if (nothing && (fn == ReduceFn.MAX || fn == ReduceFn.MIN)) {
            return emptyExtreme(n, fn == ReduceFn.MAX);
        }
        List<Long> axes = !axesAreAnInput ? n.attrInts("axes") : n.has(1) ? n.knownLongs(1) : List.of();
        if (axes == null) {
            return n.add(new ReduceBy(fn, keepDims, noop), x, n.in(1));
        }
        if (axes.isEmpty() && noop) {
            // no axis to reduce over; what the norms and logarithms do to a single element still happens
            return switch (fn) {
                case SUM, MEAN, MAX, MIN, PROD, ANY, ALL -> x;
                case L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE -> n.add(new Reduce(fn, List.of(), true), x);
            };
        }
        if (!x.shape().isRanked()) {
            return n.add(new ReduceBy(fn, keepDims, false), x, n.longs(axes));
        }
        return n.add(new Reduce(fn, fromFront(n, x, axes), keepDims), x);
    }

    /**
     * The operator gives the least (or greatest) number of the type for no numbers at all, ours has none: the empty
     * sum, moved there.
     */
    private static Value emptyExtreme(NodeContext n, boolean max) {
        DType dtype = n.in(0).dtype();
        double extreme = dtype.isFloat() ? Double.POSITIVE_INFINITY : 0x1p64;
        // stores to an integer saturate; the sum of nothing is 0
        return n.add(reduce(n, ReduceFn.SUM, n.since(18)), n.scalar(dtype, max ? -extreme : extreme));
    }

    private static List<Integer> fromFront(NodeContext n, Value x, List<Long> axes) {
        return axes.isEmpty()
                ? IntStream.range(0, x.shape().rank()).boxed().toList()
                : axes.stream().map(axis -> n.axis(x, axis)).sorted().toList();
    }

    private static Value arg(NodeContext n, boolean max) {
        return n.add(
                new ArgReduce(
                        max,
                        n.axis(n.in(0), n.attrInt("axis", 0)),
                        n.attrFlag("keepdims", true),
                        n.attrFlag("select_last_index", false)),
                n.in(0));
    }

    private static Value cumulative(NodeContext n, CumulativeFn fn) {
        Value x = n.in(0);
        List<Long> axis = n.knownLongs(1);
        if (axis != null && axis.size() == 1) {
            return cumulative(n, fn, n.axis(x, axis.getFirst()));
        }
        // an axis that only a run knows, which no exporter writes: every one, and the right one chosen
        Value wanted = n.cast(n.in(1), DType.I64);
        Value result = cumulative(n, fn, 0);
        int rank = n.rank(x);
        for (int i = 1; i < rank; i++) {
            Value here = n.binary(
                    BinaryFn.OR,
                    n.compare(CompareFn.EQ, wanted, n.longScalar(i)),
                    n.compare(CompareFn.EQ, wanted, n.longScalar(i - rank)));
            result = n.where(here, cumulative(n, fn, i), result);
        }
        return result;
    }

    private static Value cumulative(NodeContext n, CumulativeFn fn, int axis) {
        return n.add(new Cumulative(fn, axis, n.attrFlag("exclusive", false), n.attrFlag("reverse", false)), n.in(0));
    }

    private static List<Value> topKByInput(NodeContext n) {
        boolean largest = n.attrFlag("largest", true);
        boolean sorted = n.attrFlag("sorted", true);
        @Nullable List<Long> k = n.knownLongs(1);
        if (k != null && k.size() == 1) {
            return topK(n, k.getFirst(), largest, sorted);
        }
        int axis = n.axis(n.in(0), n.attrInt("axis", -1));
        return n.addAll(new TopKBy(axis, largest, sorted), List.of(n.in(0), n.in(1)));
    }

    private static List<Value> topK(NodeContext n, long k, boolean largest, boolean sorted) {
        int axis = n.axis(n.in(0), n.attrInt("axis", -1));
        return n.addAll(new TopK(k, axis, largest, sorted), List.of(n.in(0)));
    }
}
