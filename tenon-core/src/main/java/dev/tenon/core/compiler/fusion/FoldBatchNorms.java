package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Contraction;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.normalisation.BatchNorm;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code batch_norm(conv(x, w, b?)) → conv(x, w', b')} for constants, where nothing else uses the convolution: each
 * output channel's weights are multiplied by the norm's factor in double and rounded once. Left as it is where a factor
 * or an addend is not finite, which windows of padding alone would then tell apart.
 */
public final class FoldBatchNorms implements Pass {
    @Override
    public String name() {
        return "fold-batch-norms";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return Rewriter.rewrite(graph, Set.of(BatchNorm.class), FoldBatchNorms::fold);
    }

    private static @Nullable List<Value> fold(Node node, Rewriter into) {
        if (!(node.op() instanceof BatchNorm norm) || !into.isPrivate(node.input(0))) {
            return null;
        }
        Node producer = Match.producer(node.input(0));
        if (producer == null || !(producer.op() instanceof Conv || producer.op() instanceof ConvTranspose)) {
            return null;
        }
        Contraction conv = (Contraction) producer.op();
        Epilogue epilogue = conv.epilogue();
        ConstantData weights = producer.input(1).constant();
        ConstantData bias = epilogue.bias() ? producer.input(2).constant() : null;
        boolean constant = (bias != null || !epilogue.bias())
                && node.inputs().stream().skip(1).allMatch(input -> input.constant() != null);
        if (weights == null || !constant || epilogue.activation() != null || epilogue.residual()) {
            return null;
        }
        double[] factors = factors(norm, node);
        double[] addends = addends(node, bias, factors);
        if (!ScaledConstants.isFinite(factors)
                || !ScaledConstants.isFinite(node.output().dtype(), addends)) {
            return null;
        }
        ConstantData scaled = producer.op() instanceof ConvTranspose transposed
                ? ScaledConstants.ofTransposed(weights, factors, transposed.groups())
                : ScaledConstants.along(0, weights, factors);
        if (scaled == null) {
            return null;
        }
        return into.addAll(
                conv.with(epilogue.withBias()),
                List.of(
                        into.map(producer.input(0)),
                        into.constant(scaled),
                        into.constant(
                                ScaledConstants.dense(node.output().dtype(), Shape.of(addends.length), addends))));
    }

    private static double[] factors(BatchNorm norm, Node node) {
        double[] scale = ScaledConstants.elements(node.input(1));
        double[] variance = ScaledConstants.elements(node.input(4));
        double[] factors = new double[scale.length];
        for (int i = 0; i < factors.length; i++) {
            factors[i] = scale[i] / Math.sqrt(variance[i] + norm.epsilon());
        }
        return factors;
    }

    private static double[] addends(Node node, @Nullable ConstantData bias, double[] factors) {
        double[] shift = ScaledConstants.elements(node.input(2));
        double[] mean = ScaledConstants.elements(node.input(3));
        double[] before =
                bias == null ? new double[factors.length] : NdArray.of(bias).toDoubles();
        double[] addends = new double[factors.length];
        for (int i = 0; i < addends.length; i++) {
            addends[i] = (before[i] - mean[i]) * factors[i] + shift[i];
        }
        return addends;
    }
}
