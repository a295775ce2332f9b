package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Contraction;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.normalisation.BatchNorm;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code batch_norm(conv(x, w, b?)) → conv(x, w', b')} for constants, where nothing else uses the convolution: each
 * output channel's weights are multiplied by the norm's factor in double and rounded once. Left as it is where a factor
 * or an addend is not finite, which windows of padding alone would then tell apart.
 */
public final class FoldBatchNorms implements Pass {
    /** Constants of files lie anywhere. */
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public String name() {
        return "fold-batch-norms";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return Rewriter.rewrite(graph, FoldBatchNorms::fold);
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
        if (!isFinite(factors) || !isFinite(addends)) {
            return null;
        }
        long groups = producer.op() instanceof ConvTranspose transposed ? transposed.groups() : 0;
        return into.addAll(
                conv.with(epilogue.withBias()),
                List.of(
                        into.map(producer.input(0)),
                        into.constant(scaled(weights, factors, groups)),
                        into.constant(vector(node.output().dtype(), addends))));
    }

    private static double[] factors(BatchNorm norm, Node node) {
        double[] scale = elements(node.input(1));
        double[] variance = elements(node.input(4));
        double[] factors = new double[scale.length];
        for (int i = 0; i < factors.length; i++) {
            factors[i] = scale[i] / Math.sqrt(variance[i] + norm.epsilon());
        }
        return factors;
    }

    private static double[] addends(Node node, @Nullable ConstantData bias, double[] factors) {
        double[] shift = elements(node.input(2));
        double[] mean = elements(node.input(3));
        double[] before =
                bias == null ? new double[factors.length] : NdArray.of(bias).toDoubles();
        double[] addends = new double[factors.length];
        for (int i = 0; i < addends.length; i++) {
            addends[i] = (before[i] - mean[i]) * factors[i] + shift[i];
        }
        return addends;
    }

    private static boolean isFinite(double[] values) {
        for (double value : values) {
            if (!Double.isFinite(value)) {
                return false;
            }
        }
        return true;
    }

    private static double[] elements(Value value) {
        ConstantData data = value.constant();
        if (data == null) {
            throw new IllegalStateException(value + " is no constant");
        }
        return NdArray.of(data).toDoubles();
    }

    private static ConstantData vector(DType dtype, double[] values) {
        TensorType type = new TensorType(dtype, Shape.of(values.length));
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        for (int i = 0; i < values.length; i++) {
            Elements.setDouble(dtype, to, i, values[i]);
        }
        return new ConstantData.Dense(type, to);
    }

    /** @param groups of a transposed convolution, whose output channels are the second dim; else 0 */
    private static ConstantData scaled(ConstantData weights, double[] factors, long groups) {
        TensorType type = weights.type();
        Shape shape = type.shape();
        long first = shape.size(0);
        long second = groups == 0 ? 1 : shape.size(1);
        long run = shape.elements() / Math.max(1, first * second);
        MemorySegment from = weights.elements();
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        for (long i = 0; i < first; i++) {
            for (long j = 0; j < second; j++) {
                long channel = groups == 0 ? i : i / (first / groups) * second + j;
                scale(type.dtype(), from, to, (i * second + j) * run, run, factors[(int) channel]);
            }
        }
        return new ConstantData.Dense(type, to);
    }

    private static void scale(
            DType dtype, MemorySegment from, MemorySegment to, long start, long count, double factor) {
        if (dtype == DType.F32) {
            for (long i = start; i < start + count; i++) {
                double product = from.getAtIndex(FLOATS, i) * factor;
                to.setAtIndex(FLOATS, i, (float) product);
            }
            return;
        }
        for (long i = start; i < start + count; i++) {
            Elements.setDouble(dtype, to, i, Elements.getDouble(dtype, from, i) * factor);
        }
    }
}
