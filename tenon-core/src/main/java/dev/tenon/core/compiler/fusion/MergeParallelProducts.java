package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.Slice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code plain_attention(heads(x wq + bq), heads(x wk + bk), heads(x wv + bv)) → plain_attention(heads(x [wq wk wv] +
 * [bq bk bv]))}, packed, where the backend runs that: x is read once, and one large product does better than three.
 * Only for constant weights of rank 2 and constant biases, or none, and results that nothing else uses. The joined
 * constants are made once for a model. Queries and keys may be rotated alike: then their heads are, in one step.
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
        Map<Value, Integer> sizes = readersOfSizes(graph);
        return Rewriter.rewrite(graph, Set.of(PlainAttention.class), (node, into) -> merge(node, sizes, into, context));
    }

    /** How many nodes read the sizes of a value alone: they have their numbers before anything runs. */
    private static Map<Value, Integer> readersOfSizes(Graph graph) {
        Map<Value, Integer> readers = new HashMap<>();
        for (Node node : graph.nodes()) {
            if (node.op() instanceof ShapeOf) {
                readers.merge(node.input(0), 1, Integer::sum);
            }
        }
        return readers;
    }

    private static @Nullable List<Value> merge(
            Node node, Map<Value, Integer> sizes, Rewriter into, PassContext context) {
        if (!(node.op() instanceof PlainAttention op) || op.packed()) {
            return null;
        }
        Rotated rotated = Rotated.of(node, into);
        if (rotated == null) {
            return null;
        }
        List<Value> parts = rotated.parts();
        Shape heads = parts.getFirst().shape();
        for (Value input : parts) {
            if (!input.shape().mustEqual(heads)) {
                return null;
            }
        }
        List<Node> products = new ArrayList<>();
        Node first = Match.producer(parts.getFirst());
        for (Value part : parts) {
            Node product = first == null ? null : product(part, first, sizes, into);
            if (product == null || !(products.isEmpty() || alike(products.getFirst(), product))) {
                return null;
            }
            products.add(product);
        }
        return merged(node, rotated, products, into, context);
    }

    /**
     * The product with constants whose columns a value shows as heads.
     *
     * @param first the reshape of q, whose sizes are those of the others
     */
    private static @Nullable Node product(Value heads, Node first, Map<Value, Integer> sizes, Rewriter into) {
        Node reshape = Match.producer(heads);
        if (reshape == null || !reshape.op().equals(first.op()) || !into.isPrivate(heads)) {
            return null;
        }
        boolean shows = reshape.op() instanceof Reshape
                || (reshape.op() instanceof ReshapeTo && reshape.input(1).equals(first.input(1)));
        if (!shows) {
            return null;
        }
        Value columns = reshape.input(0);
        Node product = Match.producer(columns);
        boolean fits = product != null
                && product.op() instanceof MatMul op
                && into.reads(columns) - sizes.getOrDefault(columns, 0) == 1
                && !into.isOutput(columns)
                && op.epilogue().activation() == null
                && !op.epilogue().residual()
                && product.inputs().stream().skip(1).allMatch(input -> input.constant() != null)
                && product.input(1).shape().rank() == 2
                && showsColumns(reshape.op(), columns.shape(), heads.shape());
        return fits ? product : null;
    }

    /** Whether the last axis alone becomes heads and their elements, of known numbers. */
    private static boolean showsColumns(Op reshape, Shape columns, Shape heads) {
        boolean known = reshape instanceof Reshape
                ? columns.isConcrete() && heads.isConcrete()
                : columns.isRanked()
                        && columns.rank() == 3
                        && columns.dim(2).isFixed()
                        && heads.dim(2).isFixed()
                        && heads.dim(3).isFixed();
        return known && columns.size(columns.rank() - 1) == heads.elements(2, 4);
    }

    /** Whether two products differ in the elements of their constants alone. */
    private static boolean alike(Node one, Node other) {
        return one.op().equals(other.op())
                && one.input(0).equals(other.input(0))
                && one.input(1).type().equals(other.input(1).type());
    }

    private static @Nullable List<Value> merged(
            Node node, Rotated rotated, List<Node> products, Rewriter into, PassContext context) {
        Node first = products.getFirst();
        MatMul product = (MatMul) first.op();
        List<Value> operands = new ArrayList<>();
        operands.add(into.map(first.input(0)));
        operands.add(joined(products, 1, product.transposeB() ? 0 : 1, into, context));
        if (!product.epilogue().equals(Epilogue.NONE)) {
            operands.add(joined(products, 2, 0, into, context));
        }
        Value columns = into.addAll(product, operands).getFirst();
        Value packed = packed(columns, rotated.parts().getFirst(), into);
        List<Value> inputs = new ArrayList<>(List.of(rotated.rotate(packed, into)));
        node.inputs().stream().skip(PARTS).forEach(mask -> inputs.add(into.map(mask)));
        List<Value> results = into.addAll(((PlainAttention) node.op()).ofPacked(), inputs);
        return context.claimed(results.getFirst()) ? results : null;
    }

    /** The columns of all three, [B,L,3 H D], as [B,L,3,H,D]; {@code heads} are those of one, [B,L,H,D]. */
    private static Value packed(Value columns, Value heads, Rewriter into) {
        Shape shape = heads.shape();
        Node reshape = Objects.requireNonNull(Match.producer(heads));
        if (reshape.op() instanceof Reshape) {
            return into.reshape(columns, shape.size(0), shape.size(1), PARTS, shape.size(2), shape.size(3));
        }
        Value sizes = into.map(reshape.input(1));
        Value leading = into.add(Slice.along(sizes.shape(), 0, 0, 2), sizes);
        Value others = into.constant(
                NdArray.ofLongs(PARTS, shape.size(2), shape.size(3)).toConstant());
        return into.addTyped(
                reshape.op(),
                List.of(columns, into.add(new Concat(0), leading, others)),
                new TensorType(
                        columns.dtype(),
                        Shape.of(shape.dim(0), shape.dim(1), Dim.of(PARTS), shape.dim(2), shape.dim(3))));
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
