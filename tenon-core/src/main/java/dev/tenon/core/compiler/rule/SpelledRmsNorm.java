package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.compiler.rule.SpelledParts.Operands;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code x / sqrt(mean(x * x) + epsilon) → rms_norm(x)} over the last axis, also as a product with the reciprocal root;
 * {@code rms_norm(x) * scale → rms_norm(x, scale)}; and a norm of f32 between casts from and to 16 bits is one of 16
 * bits, whose sums are as wide.
 */
final class SpelledRmsNorm implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Binary.class, Cast.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (node.op() instanceof Cast cast) {
            return betweenCasts(cast, node, into);
        }
        Operands quotient = Operands.of(node, BinaryFn.DIV);
        if (quotient != null) {
            return norm(node, quotient.a(), root(quotient.b()), into);
        }
        Operands product = Operands.of(node, BinaryFn.MUL);
        if (product == null) {
            return null;
        }
        List<Value> matched = product(node, product.a(), product.b(), into);
        return matched != null ? matched : product(node, product.b(), product.a(), into);
    }

    private static @Nullable List<Value> product(Node node, Value x, Value factor, Rewriter into) {
        List<Value> matched = norm(node, x, reciprocalRoot(factor), into);
        return matched != null ? matched : scaled(x, factor, into);
    }

    /** @param sum what the root is of */
    private static @Nullable List<Value> norm(Node node, Value x, @Nullable Value sum, Rewriter into) {
        Double epsilon = sum == null ? null : SpelledParts.epsilon(sum, x);
        return epsilon == null || !x.type().mustEqual(node.output().type())
                ? null
                : List.of(into.add(new RmsNorm(x.shape().rank() - 1, epsilon, false), into.map(x)));
    }

    /** What a value is the root of. */
    private static @Nullable Value root(Value value) {
        return SpelledParts.argument(UnaryFn.SQRT, value);
    }

    private static @Nullable Value reciprocalRoot(Value value) {
        Value sum = SpelledParts.argument(UnaryFn.RSQRT, value);
        if (sum != null) {
            return sum;
        }
        Value root = SpelledParts.argument(UnaryFn.RECIPROCAL, value);
        Operands quotient = Operands.of(value, BinaryFn.DIV);
        if (quotient != null
                && Match.isAll(quotient.a(), 1)
                && quotient.b().type().mustEqual(value.type())) {
            root = quotient.b();
        }
        return root == null ? null : root(root);
    }

    private static @Nullable List<Value> scaled(Value normed, Value scale, Rewriter into) {
        Node norm = bare(normed, into);
        if (norm == null || !SpelledParts.isLastAxis(scale, normed)) {
            return null;
        }
        RmsNorm bare = (RmsNorm) norm.op();
        RmsNorm scaled = new RmsNorm(bare.axis(), bare.epsilon(), true);
        return List.of(into.add(scaled, norm.input(0), SpelledParts.vector(scale, into)));
    }

    /** The norm over the last axis without a scale that makes a value, which nothing else reads. */
    private static @Nullable Node bare(Value value, Rewriter into) {
        Node norm = Match.producer(into.map(value));
        boolean found = norm != null
                && norm.op() instanceof RmsNorm rms
                && !rms.scale()
                && rms.axis() == value.shape().rank() - 1
                && into.isPrivate(value);
        return found ? norm : null;
    }

    private static @Nullable List<Value> betweenCasts(Cast cast, Node node, Rewriter into) {
        Node norm = bare(node.input(0), into);
        Node widened = norm == null ? null : Match.producer(norm.input(0));
        if (norm == null || widened == null || !(widened.op() instanceof Cast)) {
            return null;
        }
        Value x = widened.input(0);
        boolean narrow =
                x.dtype() == cast.to() && cast.to().isFloat() && cast.to().bits() == 16;
        return narrow ? List.of(into.add(norm.op(), x)) : null;
    }
}
