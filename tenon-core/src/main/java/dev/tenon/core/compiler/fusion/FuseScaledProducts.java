package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.ConstantStore;
import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DequantizedWeight;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code matmul(x, dequantize(q, scale, zero point)) → scaled_mat_mul(x, q^T, scale, zero point)} for constant weights
 * of 8 and 4 bits, so that no run writes the weight out. {@link DequantizedWeight#refusal} says which products stay as
 * they are, and why; reports of devices repeat it. A weight that lies along its columns is transposed once for a model.
 */
public final class FuseScaledProducts implements Pass {
    @Override
    public String name() {
        return "fuse-scaled-products";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return Rewriter.rewrite(graph, Set.of(MatMul.class), (node, into) -> fuse(node, into, context.constants()));
    }

    private static @Nullable List<Value> fuse(Node node, Rewriter into, ConstantStore constants) {
        Node producer = node.op() instanceof MatMul ? Match.producer(node.input(1)) : null;
        if (producer == null
                || !(node.op() instanceof MatMul op)
                || !(producer.op() instanceof Dequantize dequantize)
                || !DequantizedWeight.refusal(node).isEmpty()) {
            return null;
        }
        boolean alongRows = op.transposeB();
        Shape q = producer.input(0).shape();
        long columns = q.size(alongRows ? 0 : 1);
        ScaledMatMul scaled =
                new ScaledMatMul(DequantizedWeight.blocked(producer) ? dequantize.block() : 0, dequantize.zeroPoint());
        Shape scales = Shape.of(columns, scaled.blocks(q.size(alongRows ? 1 : 0)));
        List<Value> operands = new ArrayList<>();
        operands.add(into.map(node.input(0)));
        operands.add(into.constant(turned(data(producer, 0), alongRows, constants)));
        for (int i = 1; i < producer.inputs().size(); i++) {
            operands.add(into.constant(spread(data(producer, i), scales, alongRows, constants)));
        }
        return into.addAll(scaled, operands);
    }

    private static ConstantData data(Node node, int input) {
        ConstantData data = node.input(input).constant();
        if (data == null) {
            throw new IllegalStateException(node.input(input) + " is not a constant");
        }
        return data;
    }

    private static ConstantData turned(ConstantData data, boolean alongRows, ConstantStore constants) {
        return alongRows ? data : constants.transposed(data);
    }

    /** A scale or zero point, single, by row or by block, for each block of each row of the transposed weight. */
    private static ConstantData spread(ConstantData data, Shape scales, boolean alongRows, ConstantStore constants) {
        TensorType type = new TensorType(data.type().dtype(), scales);
        if (data.type().shape().elements() == 1 && scales.elements() != 1) {
            return new ConstantData.Splat(type, DequantizedWeight.onlyElement(data));
        }
        return data.type().shape().rank() == 2
                ? turned(data, alongRows, constants)
                : data.reshaped(Shape.of(List.of(Dim.of(scales.size(0)), Dim.of(scales.size(1)))));
    }
}
