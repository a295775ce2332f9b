package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Losses, which evaluation graphs may still hold. */
final class LossMapping {
    private LossMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "NegativeLogLikelihoodLoss" -> List.of(likelihood(n, n.in(0)));
            case "SoftmaxCrossEntropyLoss" -> {
                Value logProbabilities = n.add(new LogSoftmax(1), n.in(0));
                yield List.of(likelihood(n, logProbabilities), logProbabilities);
            }
            default -> throw OnnxOps.unlisted(n);
        };
    }

    /**
     * -weight[target] * x[.., target, ..], where the target is not the ignored class; as it is, summed, or averaged by
     * weight.
     */
    private static Value likelihood(NodeContext n, Value x) {
        Value target = n.cast(n.in(1), DType.I64);
        Value ignored = n.hasAttr("ignore_index")
                ? n.compare(CompareFn.EQ, target, n.longScalar(n.attrInt("ignore_index")))
                : null;
        Value known = ignored == null ? target : n.where(ignored, n.longScalar(0), target);
        Value picked = n.add(new GatherElements(1), x, ShapeChanges.unsqueeze(n, known, List.of(1L)));
        Value loss = n.unary(UnaryFn.NEG, ShapeChanges.squeeze(n, picked, List.of(1L)));
        Value weight = weight(n, x, known, ignored);
        Value weighted = weight == null ? loss : n.mul(loss, weight);
        return switch (n.attrString("reduction", "mean")) {
            case "none" -> weighted;
            case "sum" -> total(n, weighted, ReduceFn.SUM);
            case "mean" ->
                weight == null
                        ? total(n, weighted, ReduceFn.MEAN)
                        : n.div(total(n, weighted, ReduceFn.SUM), total(n, weight, ReduceFn.SUM));
            default -> throw n.error("the reduction \"" + n.attrString("reduction", "") + "\" is not known");
        };
    }

    private static @Nullable Value weight(NodeContext n, Value x, Value target, @Nullable Value ignored) {
        Value given = n.has(2) ? n.add(new Gather(0), n.in(2), target) : null;
        if (ignored == null) {
            return given;
        }
        Value one = given == null ? ShapeChanges.scalarLike(n, x, 1) : given;
        return n.where(ignored, ShapeChanges.scalarLike(n, x, 0), one);
    }

    private static Value total(NodeContext n, Value x, ReduceFn fn) {
        return n.add(new Reduce(fn, IntStream.range(0, n.rank(x)).boxed().toList(), false), x);
    }
}
