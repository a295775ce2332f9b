package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.movement.Reshape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code plain_attention(heads(x wq + bq), heads(x wk + bk), heads(x wv + bv)) → plain_attention(heads(x [wq wk wv] +
 * [bq bk bv]))}, packed, where the backend runs that: x is read once, and one large product does better than three.
 * Only for constant weights of rank 2 and constant biases, or none, and results that nothing else uses. The joined
 * constants are made once for a model.
 */
public final class MergeParallelProducts implements Pass {
    private static final int PARTS = 3;

    @Override
    public String name() {
        return "merge-parallel-products";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (context.claimsNothing()) {
            return graph;
        }
        return Rewriter.rewrite(graph, (node, into) -> merge(node, into, context));
    }

    private static @Nullable List<Value> merge(Node node, Rewriter into, PassContext context) {
        if (!(node.op() instanceof PlainAttention op) || op.packed()) {
            return null;
        }
        List<Node> products = new ArrayList<>();
        for (Value heads : node.inputs().subList(0, PARTS)) {
            Node product = product(heads, into);
            if (product == null || !(products.isEmpty() || alike(products.getFirst(), product))) {
                return null;
            }
            products.add(product);
        }
        Shape heads = node.input(0).shape();
        boolean sameHeads = node.inputs().subList(0, PARTS).stream()
                .allMatch(input -> input.shape().equals(heads));
        return sameHeads ? merged(node, op, products, into, context) : null;
    }

    /** The product with constants whose columns a value shows as heads. */
    private static @Nullable Node product(Value heads, Rewriter into) {
        Node reshape = Match.producer(heads);
        if (reshape == null || !(reshape.op() instanceof Reshape) || !into.isPrivate(heads)) {
            return null;
        }
        Value columns = reshape.input(0);
        Node product = Match.producer(columns);
        boolean fits = product != null
                && product.op() instanceof MatMul op
                && into.isPrivate(columns)
                && op.epilogue().activation() == null
                && !op.epilogue().residual()
                && product.input(1).shape().rank() == 2
                && product.inputs().stream().skip(1).allMatch(input -> input.constant() != null)
                && columns.shape().isConcrete()
                && heads.shape().isConcrete()
                && columns.shape().size(columns.shape().rank() - 1)
                        == heads.shape().elements(2, 4);
        return fits ? product : null;
    }

    /** Whether two products differ in the elements of their constants alone. */
    private static boolean alike(Node one, Node other) {
        return one.op().equals(other.op())
                && one.input(0).equals(other.input(0))
                && one.input(1).type().equals(other.input(1).type());
    }

    private static @Nullable List<Value> merged(
            Node node, PlainAttention op, List<Node> products, Rewriter into, PassContext context) {
        Node first = products.getFirst();
        MatMul product = (MatMul) first.op();
        List<Value> operands = new ArrayList<>();
        operands.add(into.map(first.input(0)));
        operands.add(joined(products, 1, product.transposeB() ? 0 : 1, into, context));
        if (!product.epilogue().equals(Epilogue.NONE)) {
            operands.add(joined(products, 2, 0, into, context));
        }
        Shape heads = node.input(0).shape();
        Value packed = into.reshape(
                into.addAll(product, operands).getFirst(),
                heads.size(0),
                heads.size(1),
                PARTS,
                heads.size(2),
                heads.size(3));
        List<Value> inputs = new ArrayList<>(List.of(packed));
        node.inputs().stream().skip(PARTS).forEach(mask -> inputs.add(into.map(mask)));
        List<Value> results = into.addAll(new PlainAttention(op.mask(), true, op.scale()), inputs);
        return context.claimed(results.getFirst()) ? results : null;
    }

    private static Value joined(List<Node> products, int input, int axis, Rewriter into, PassContext context) {
        List<ConstantData> parts = new ArrayList<>();
        for (Node product : products) {
            if (product.input(input).origin() instanceof Value.Origin.Constant(ConstantData data)) {
                parts.add(data);
            }
        }
        return into.constant(context.constants().joined(parts, axis));
    }
}
