package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.normalisation.BatchNorm;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.Hardmax;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.LpNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Softmax and its kin, the norms, and Dropout, which does nothing in inference. */
final class NormalisationMapping {
    private NormalisationMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "Softmax" -> List.of(softmax(n, Softmax::new));
            case "LogSoftmax" -> List.of(softmax(n, LogSoftmax::new));
            case "Hardmax" -> List.of(softmax(n, Hardmax::new));
            case "BatchNormalization" -> batchNorm(n);
            case "InstanceNormalization" ->
                List.of(n.add(new InstanceNorm(n.attrFloat("epsilon", 1e-5f)), n.in(0), n.in(1), n.in(2)));
            case "GroupNormalization" -> List.of(groupNorm(n));
            case "LayerNormalization" -> layerNorm(n);
            case "RMSNormalization" -> List.of(rmsNorm(n));
            case "LpNormalization" ->
                List.of(n.add(new LpNorm(n.axis(n.in(0), n.attrInt("axis", -1)), n.attrInt("p", 2)), n.in(0)));
            case "LRN" -> List.of(lrn(n));
            case "MeanVarianceNormalization" -> List.of(meanVariance(n));
            case "Dropout" -> dropout(n);
            default -> throw OnnxOps.unlisted(n);
        };
    }

    /** Over one axis since opset 13; before that over all dims from the axis on, seen as one. */
    private static Value softmax(NodeContext n, IntFunction<Op> op) {
        Value x = n.in(0);
        if (n.since(13)) {
            return n.add(op.apply(n.axis(x, n.attrInt("axis", -1))), x);
        }
        int axis = n.axis(x, n.attrInt("axis", 1));
        if (axis == n.rank(x) - 1) {
            return n.add(op.apply(axis), x);
        }
        return ShapeChanges.like(n, n.add(op.apply(1), ShapeChanges.matrix(n, x, axis)), x);
    }

    private static List<Value> batchNorm(NodeContext n) {
        Value x = n.in(0);
        double epsilon = n.attrFloat("epsilon", 1e-5f);
        if (n.attrInt("spatial", 1) == 0) {
            throw n.error("spatial=0 is not supported");
        }
        List<Value> operands = new ArrayList<>(List.of(x));
        for (int i = 1; i < 5; i++) {
            operands.add(n.cast(n.in(i), x.dtype()));
        }
        if (!n.since(14) || !n.attrFlag("training_mode", false)) {
            return List.of(n.addAll(new BatchNorm(epsilon), operands).getFirst());
        }
        // training: by the batch's own mean and variance, and the running ones moved towards them
        List<Integer> axes =
                IntStream.range(0, n.rank(x)).filter(i -> i != 1).boxed().toList();
        Value wide = n.cast(x, x.dtype().accumulator());
        Value mean = n.add(new Reduce(ReduceFn.MEAN, axes, false), wide);
        Value centred = centred(n, wide, axes);
        Value variance = n.add(new Reduce(ReduceFn.MEAN, axes, false), n.mul(centred, centred));
        Value zero = n.sub(mean, mean);
        List<Value> standard =
                List.of(centred, n.cast(n.in(1), wide.dtype()), n.cast(n.in(2), wide.dtype()), zero, variance);
        double momentum = n.attrFloat("momentum", 0.9f);
        return List.of(
                n.cast(n.addAll(new BatchNorm(epsilon), standard).getFirst(), x.dtype()),
                moved(n, n.in(3), mean, momentum),
                moved(n, n.in(4), variance, momentum));
    }

    private static Value moved(NodeContext n, Value running, Value now, double momentum) {
        return n.add(
                n.mul(running, ShapeChanges.scalarLike(n, running, momentum)),
                n.mul(n.cast(now, running.dtype()), ShapeChanges.scalarLike(n, running, 1 - momentum)));
    }

    private static Value groupNorm(NodeContext n) {
        Value x = n.in(0);
        long groups = n.attrInt("num_groups");
        GroupNorm op = new GroupNorm(groups, n.attrFloat("epsilon", 1e-5f));
        if (n.since(21)) {
            return n.add(op, x, n.in(1), n.in(2));
        }
        // before opset 21 there was one scale and one bias a group, not a channel
        Dim channels = x.shape().dim(1);
        if (!channels.isFixed() || groups < 1) {
            throw n.error("the number of channels must be known here, and groups positive");
        }
        long each = channels.size() / groups;
        return n.add(op, x, byChannel(n, n.in(1), groups, each), byChannel(n, n.in(2), groups, each));
    }

    private static Value byChannel(NodeContext n, Value byGroup, long groups, long each) {
        return n.reshape(n.expand(n.reshape(byGroup, groups, 1), groups, each), groups * each);
    }

    private static List<Value> layerNorm(NodeContext n) {
        Value x = n.in(0);
        int axis = n.axis(x, n.attrInt("axis", -1));
        double epsilon = n.attrFloat("epsilon", 1e-5f);
        List<Value> parameters = new ArrayList<>(List.of(n.in(1)));
        if (n.has(2)) {
            parameters.add(n.in(2));
        }
        Value y = scaled(n, x, axis, parameters, (scale, bias) -> new LayerNorm(axis, epsilon, scale, bias));
        if (n.results() < 2) {
            return List.of(y);
        }
        Value wide = n.cast(x, n.attrType("stash_type", DType.F32));
        Value mean = mean(n, wide, axis);
        List<Integer> axes = IntStream.range(axis, n.rank(x)).boxed().toList();
        return List.of(y, mean, reciprocalRoot(n, centred(n, wide, axes), axis, epsilon));
    }

    /**
     * x less its mean over some dims, which stay. The mean rounds: at values near 10000 that differ by thousandths it
     * is off by as much as they deviate. The differences are exact then, and taking their own mean from them mends it.
     */
    static Value centred(NodeContext n, Value x, List<Integer> axes) {
        Value nearly = n.sub(x, n.add(new Reduce(ReduceFn.MEAN, axes, true), x));
        return n.sub(nearly, n.add(new Reduce(ReduceFn.MEAN, axes, true), nearly));
    }

    private static Value rmsNorm(NodeContext n) {
        Value x = n.in(0);
        int axis = n.axis(x, n.attrInt("axis", -1));
        double epsilon = n.attrFloat("epsilon", 1e-5f);
        return scaled(n, x, axis, List.of(n.in(1)), (scale, _) -> new RmsNorm(axis, epsilon, scale));
    }

    /** Makes a norm with or without a scale and a bias of its own. */
    private interface Norm {
        Op with(boolean scale, boolean bias);
    }

    /**
     * A norm and its scale and bias, which broadcast to x. Those that span the normalised axes alone are the norm's
     * own; those with a row for each position are applied after it, in the type that sums are kept in.
     */
    private static Value scaled(NodeContext n, Value x, int axis, List<Value> parameters, Norm norm) {
        List<Value> own = parameters.stream()
                .map(parameter -> overRow(n, n.cast(parameter, x.dtype()), n.rank(x) - axis))
                .toList();
        if (own.stream()
                .allMatch(parameter ->
                        parameter.shape().isRanked() && parameter.shape().rank() <= n.rank(x) - axis)) {
            List<Value> operands = new ArrayList<>(List.of(x));
            operands.addAll(own);
            return n.addAll(norm.with(true, own.size() > 1), operands).getFirst();
        }
        DType wide = x.dtype().accumulator();
        Value y = n.add(norm.with(false, false), n.cast(x, wide));
        for (int i = 0; i < parameters.size(); i++) {
            Value parameter = n.cast(parameters.get(i), wide);
            Value combined = i == 0 ? n.mul(y, parameter) : n.add(y, parameter);
            y = ShapeChanges.fitted(
                    n,
                    combined,
                    y,
                    (i == 0 ? "scale " : "bias ") + parameters.get(i).type());
        }
        return n.cast(y, x.dtype());
    }

    /** The value without leading dims of 1 beyond that many dims. */
    private static Value overRow(NodeContext n, Value parameter, int rank) {
        int extra = parameter.shape().isRanked() ? parameter.shape().rank() - rank : 0;
        if (extra <= 0 || !parameter.shape().isConcrete() || parameter.shape().elements(0, extra) != 1) {
            return parameter;
        }
        return n.reshape(
                parameter,
                parameter.shape().range(extra, parameter.shape().rank()).sizes());
    }

    /** Over the dims from an axis on, which stay. */
    static Value mean(NodeContext n, Value x, int axis) {
        List<Integer> axes = IntStream.range(axis, n.rank(x)).boxed().toList();
        return n.add(new Reduce(ReduceFn.MEAN, axes, true), x);
    }

    /** 1 / sqrt(mean(x^2) + epsilon) over the dims from an axis on. */
    static Value reciprocalRoot(NodeContext n, Value x, int axis, double epsilon) {
        Value square = mean(n, n.mul(x, x), axis);
        return n.unary(UnaryFn.RSQRT, n.add(square, ShapeChanges.scalarLike(n, square, epsilon)));
    }

    private static Value lrn(NodeContext n) {
        return n.add(
                new LocalResponseNorm(
                        n.attrInt("size"),
                        n.attrFloat("alpha", 1e-4f),
                        n.attrFloat("beta", 0.75),
                        n.attrFloat("bias", 1)),
                n.in(0));
    }

    /** (x - mean) / (deviation + 1e-9). */
    private static Value meanVariance(NodeContext n) {
        Value x = n.in(0);
        List<Long> given = n.hasAttr("axes") ? n.attrInts("axes") : List.of(0L, 2L, 3L);
        List<Integer> axes =
                given.stream().map(axis -> n.axis(x, axis)).sorted().toList();
        Value centred = centred(n, n.cast(x, x.dtype().accumulator()), axes);
        Value variance = n.add(new Reduce(ReduceFn.MEAN, axes, true), n.mul(centred, centred));
        Value deviation = n.add(n.unary(UnaryFn.SQRT, variance), ShapeChanges.scalarLike(n, centred, 1e-9));
        return n.cast(n.div(centred, deviation), x.dtype());
    }

    private static List<Value> dropout(NodeContext n) {
        Value x = n.in(0);
        if (n.has(2)) {
            NdArray training = n.known(2);
            if (training == null || training.getLong(0) != 0) {
                throw n.error("training_mode must be the constant false: dropout while training is not supported");
            }
        }
        if (n.results() < 2) {
            return List.of(x);
        }
        DType maskType = n.since(10) ? DType.BOOL : x.dtype();
        ConstantData.Splat kept = new ConstantData.Splat(
                TensorType.of(maskType),
                maskType == DType.BOOL ? 1 : dev.tenon.core.ir.Elements.fromDouble(maskType, 1));
        return List.of(x, MovementMapping.fill(n, kept, ShapeChanges.sizes(n, x)));
    }
}
