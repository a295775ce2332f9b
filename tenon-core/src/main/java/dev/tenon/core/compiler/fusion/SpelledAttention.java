package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.compiler.rule.Canonicalise;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.Softmax;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code matmul(softmax(matmul(q, k^T) * scale + mask), v) → plain_attention(q, k, v, mask)} of rank 4, where the
 * backend runs that whole; scale and mask may be missing, and the scale may be a division, or stand before the product
 * on one operand or on both; several addends are one mask; weights that are NaN may be made 0; scores of halves may be
 * made f32 before their mask is added, and are not rounded to halves then. The operands and the
 * result get transposes to tokens before heads, which cancel with those that exporters write.
 */
public final class SpelledAttention implements Pass {
    /** Between heads first and tokens first. */
    private static final Transpose SWAP = new Transpose(List.of(0, 2, 1, 3));

    private static final int RANK = 4;

    /** Of keys with elements before tokens. */
    private static final Transpose TURN = new Transpose(List.of(0, 1, 3, 2));

    /**
     * What a chain of scores is made of.
     *
     * @param masks what is added to the scaled product
     */
    private record Scores(Node product, double scale, List<Value> masks) {}

    /** What a value is a multiple of. */
    private record Scaled(Value value, double factor) {
        static Scaled of(Value value) {
            Node node = Match.producer(value);
            if (node == null
                    || !(node.op() instanceof Binary(BinaryFn fn))
                    || !value.dtype().isFloat()) {
                return new Scaled(value, 1);
            }
            Double second = Match.splat(node.input(1));
            if (second != null && (fn == BinaryFn.MUL || fn == BinaryFn.DIV)) {
                return fitting(value, node.input(0), fn == BinaryFn.MUL ? second : 1 / second);
            }
            Double first = fn == BinaryFn.MUL ? Match.splat(node.input(0)) : null;
            return first != null ? fitting(value, node.input(1), first) : new Scaled(value, 1);
        }

        private static Scaled fitting(Value whole, Value part, double factor) {
            boolean fits = Double.isFinite(factor) && factor != 0 && part.type().mustEqual(whole.type());
            return fits ? new Scaled(part, factor) : new Scaled(whole, 1);
        }
    }

    @Override
    public String name() {
        return "spelled-attention";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (context.claimsNothing()) {
            return graph;
        }
        Map<List<Value>, Value> sums = new HashMap<>();
        Graph fused = Rewriter.rewrite(graph, Set.of(MatMul.class), (node, into) -> fuse(node, sums, into, context));
        return fused == graph ? graph : new Canonicalise().apply(fused, context);
    }

    private static @Nullable List<Value> fuse(
            Node node, Map<List<Value>, Value> sums, Rewriter into, PassContext context) {
        if (!isProduct(node, false)) {
            return null;
        }
        Value guarded = unguarded(node.input(0), into);
        Value weights = guarded == null ? node.input(0) : guarded;
        Node softmax = Match.producer(weights);
        if (softmax == null
                || !(softmax.op() instanceof Softmax(int axis))
                || axis != RANK - 1
                || !(guarded != null || into.isPrivate(weights))
                || !into.isPrivate(softmax.input(0))) {
            return null;
        }
        Scores scores = scores(softmax.input(0), into);
        if (scores == null || !fits(scores, node)) {
            return null;
        }
        Scaled q = Scaled.of(scores.product.input(0));
        Scaled k = Scaled.of(scores.product.input(1));
        double scale = scores.scale * q.factor * k.factor;
        if (!Double.isFinite(scale)) {
            return null;
        }
        Value keys = into.map(k.value);
        boolean turned = ((MatMul) scores.product.op()).transposeB();
        DType dtype = weights.dtype();
        List<Value> operands = new ArrayList<>();
        operands.add(as(dtype, into.add(SWAP, into.map(q.value)), into));
        operands.add(as(dtype, into.add(SWAP, turned ? keys : into.add(TURN, keys)), into));
        operands.add(as(dtype, into.add(SWAP, into.map(narrowed(node.input(1), into))), into));
        List<Value> masks = scores.masks.stream()
                .map(mask -> as(dtype, into.map(mask), into))
                .toList();
        if (!masks.isEmpty()) {
            // layers share their masks, and so their sum
            operands.add(sums.computeIfAbsent(
                    masks,
                    _ -> masks.stream()
                            .reduce((one, other) -> into.add(new Binary(BinaryFn.ADD), one, other))
                            .orElseThrow()));
        }
        PlainAttention op = new PlainAttention(!scores.masks.isEmpty(), false, scale, guarded != null);
        List<Value> fused = into.addAll(op, operands);
        return context.claimed(fused.getFirst()) ? List.of(into.add(SWAP, fused.getFirst())) : null;
    }

    /** Scores of halves may become f32 behind their product: then its operands do before it. */
    private static Value as(DType dtype, Value value, Rewriter into) {
        return value.dtype() == dtype ? value : into.add(new Cast(dtype, true), value);
    }

    /** What a value was before it was made f32. */
    private static Value narrowed(Value value, Rewriter into) {
        Node node = Match.producer(value);
        return node != null
                        && node.op() instanceof Cast
                        && isWider(value.dtype(), node.input(0).dtype())
                        && into.isPrivate(value)
                ? node.input(0)
                : value;
    }

    /** The weights in {@code where(is_nan(weights), 0, weights)}; null for any other value. */
    private static @Nullable Value unguarded(Value value, Rewriter into) {
        Node node = Match.producer(value);
        if (node == null || !(node.op() instanceof Where) || !into.isPrivate(value)) {
            return null;
        }
        Value weights = node.input(2);
        Node test = Match.producer(node.input(0));
        boolean guards = test != null
                && test.op() instanceof Unary unary
                && unary.fn() == UnaryFn.IS_NAN
                && test.input(0).equals(weights)
                && Match.isAll(node.input(1), 0)
                && into.isPrivate(node.input(0))
                && into.reads(weights) == 2
                && !into.isOutput(weights)
                && weights.type().mustEqual(value.type());
        return guards ? weights : null;
    }

    /** Whether a node is the product of queries and keys: these have tokens before elements, or are seen turned. */
    private static boolean isScores(Node node) {
        if (isProduct(node, true)) {
            return true;
        }
        Node keys = isProduct(node, false) ? Match.producer(Scaled.of(node.input(1)).value) : null;
        return keys != null && keys.op() instanceof Transpose;
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
                Value sum = node.input(side);
                Value mask = node.input(1 - side);
                boolean kept = into.isPrivate(sum) && sum.type().mustEqual(value.type());
                Scores plain = kept && mask.dtype() == value.dtype() ? scores(sum, into) : null;
                if (plain != null) {
                    List<Value> masks = new ArrayList<>(plain.masks);
                    masks.add(mask);
                    return new Scores(plain.product, plain.scale, masks);
                }
            }
            return null;
        }
        if (isScores(node)) {
            return new Scores(node, 1, List.of());
        }
        if (node.op() instanceof Cast && isWider(value.dtype(), node.input(0).dtype())) {
            return into.isPrivate(node.input(0)) ? scores(node.input(0), into) : null;
        }
        Scaled scaled = Scaled.of(value);
        Node product = Match.producer(scaled.value);
        return product != null && scaled.value != value && into.isPrivate(scaled.value) && isScores(product)
                ? new Scores(product, scaled.factor, List.of())
                : null;
    }

    private static boolean isWider(DType wide, DType narrow) {
        return wide == DType.F32 && (narrow == DType.F16 || narrow == DType.BF16);
    }

    /** Whether nothing is broadcast but the mask. */
    private static boolean fits(Scores scores, Node product) {
        Shape q = scores.product.input(0).shape();
        Shape k = scores.product.input(1).shape();
        Shape v = product.input(1).shape();
        Shape all = scores.product.output().shape();
        boolean sameHeads =
                q.range(0, 2).mustEqual(k.range(0, 2)) && q.range(0, 2).mustEqual(v.range(0, 2));
        return sameHeads
                && scores.masks.stream()
                        .allMatch(mask -> mask.shape().isRanked()
                                && mask.shape().rank() <= RANK
                                && Shape.broadcast(all, mask.shape()).mustEqual(all));
    }
}
