package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.compiler.rule.Canonicalise;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.Softmax;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code matmul(softmax(matmul(q, k^T) * scale + mask), v) → plain_attention(q, k, v, mask)} of rank 4, where the
 * backend runs that whole; scale and mask may be missing, and the scale may be a division. The operands and the result
 * get transposes to tokens before heads, which cancel with those that exporters write.
 */
public final class SpelledAttention implements Pass {
    /** Between heads first and tokens first. */
    private static final Transpose SWAP = new Transpose(List.of(0, 2, 1, 3));

    private static final int RANK = 4;

    /** What a chain of scores is made of. */
    private record Scores(
            Node product, double scale, @Nullable Value mask) {}

    @Override
    public String name() {
        return "spelled-attention";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (context.claimsNothing()) {
            return graph;
        }
        Graph fused = Rewriter.rewrite(graph, (node, into) -> fuse(node, into, context));
        return fused == graph ? graph : new Canonicalise().apply(fused, context);
    }

    private static @Nullable List<Value> fuse(Node node, Rewriter into, PassContext context) {
        if (!isProduct(node, false)) {
            return null;
        }
        Node softmax = Match.producer(node.input(0));
        if (softmax == null
                || !(softmax.op() instanceof Softmax(int axis))
                || axis != RANK - 1
                || !into.isPrivate(node.input(0))
                || !into.isPrivate(softmax.input(0))) {
            return null;
        }
        Scores scores = scores(softmax.input(0), into);
        if (scores == null || !fits(scores, node)) {
            return null;
        }
        List<Value> operands = new ArrayList<>();
        operands.add(into.add(SWAP, into.map(scores.product.input(0))));
        operands.add(into.add(SWAP, into.map(scores.product.input(1))));
        operands.add(into.add(SWAP, into.map(node.input(1))));
        if (scores.mask != null) {
            operands.add(into.map(scores.mask));
        }
        List<Value> fused = into.addAll(new PlainAttention(scores.mask != null, scores.scale), operands);
        return context.claimed(fused.getFirst()) ? List.of(into.add(SWAP, fused.getFirst())) : null;
    }

    private static boolean isProduct(Node node, boolean transposedB) {
        return node.op() instanceof MatMul op
                && !op.transposeA()
                && op.transposeB() == transposedB
                && op.epilogue().isEmpty()
                && node.output().dtype().isFloat()
                && isRank4(node.output().shape())
                && isRank4(node.input(0).shape())
                && isRank4(node.input(1).shape());
    }

    private static boolean isRank4(Shape shape) {
        return shape.isRanked() && shape.rank() == RANK;
    }

    /** Takes apart {@code matmul * scale + mask}. */
    private static @Nullable Scores scores(Value value, Rewriter into) {
        Node node = Match.producer(value);
        if (node == null) {
            return null;
        }
        if (node.op() instanceof Binary(BinaryFn fn) && fn == BinaryFn.ADD) {
            for (int side = 0; side < 2; side++) {
                Scores plain = into.isPrivate(node.input(side)) ? scaled(node.input(side), into) : null;
                Value mask = node.input(1 - side);
                if (plain != null && mask.dtype() == value.dtype()) {
                    return new Scores(plain.product, plain.scale, mask);
                }
            }
            return null;
        }
        return scaled(value, into);
    }

    private static @Nullable Scores scaled(Value value, Rewriter into) {
        Node node = Match.producer(value);
        if (node == null) {
            return null;
        }
        if (isProduct(node, true)) {
            return new Scores(node, 1, null);
        }
        if (!(node.op() instanceof Binary(BinaryFn fn)) || (fn != BinaryFn.MUL && fn != BinaryFn.DIV)) {
            return null;
        }
        for (int side = 0; side < (fn == BinaryFn.MUL ? 2 : 1); side++) {
            Node product = Match.producer(node.input(side));
            Double factor = Match.splat(node.input(1 - side));
            if (product != null && isProduct(product, true) && into.isPrivate(node.input(side)) && factor != null) {
                double scale = fn == BinaryFn.MUL ? factor : 1 / factor;
                return Double.isFinite(scale) ? new Scores(product, scale, null) : null;
            }
        }
        return null;
    }

    /** Whether nothing is broadcast but the mask. */
    private static boolean fits(Scores scores, Node product) {
        Shape q = scores.product.input(0).shape();
        Shape k = scores.product.input(1).shape();
        Shape v = product.input(1).shape();
        Shape all = scores.product.output().shape();
        boolean sameHeads =
                q.range(0, 2).mustEqual(k.range(0, 2)) && q.range(0, 2).mustEqual(v.range(0, 2));
        boolean maskFits = scores.mask == null
                || (scores.mask.shape().isRanked()
                        && scores.mask.shape().rank() <= RANK
                        && Shape.broadcast(all, scores.mask.shape()).mustEqual(all));
        return sameHeads && maskFits;
    }
}
