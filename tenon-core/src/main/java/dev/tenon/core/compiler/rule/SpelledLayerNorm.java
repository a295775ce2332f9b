package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.compiler.rule.SpelledParts.Operands;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code d = x - mean(x); d / sqrt(mean(d * d) + epsilon) * scale + bias → layer_norm(x, scale, bias)} over the last
 * axis. ({@code pow(d, 2)} is {@code d * d} by then.)
 */
final class SpelledLayerNorm implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Binary.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        Operands sum = Operands.of(node, BinaryFn.ADD);
        if (sum == null) {
            return null;
        }
        List<Value> matched = match(sum.a(), sum.b(), into);
        return matched != null ? matched : match(sum.b(), sum.a(), into);
    }

    private static @Nullable List<Value> match(Value product, Value bias, Rewriter into) {
        Operands scaled = Operands.of(product, BinaryFn.MUL);
        if (scaled == null || !into.isPrivate(product)) {
            return null;
        }
        List<Value> matched = match(scaled.a(), scaled.b(), bias, into);
        return matched != null ? matched : match(scaled.b(), scaled.a(), bias, into);
    }

    private static @Nullable List<Value> match(Value normalised, Value scale, Value bias, Rewriter into) {
        Operands quotient = Operands.of(normalised, BinaryFn.DIV);
        if (quotient == null || !into.isPrivate(normalised)) {
            return null;
        }
        Value deviation = quotient.a();
        Operands difference = Operands.of(deviation, BinaryFn.SUB);
        if (difference == null
                || !SpelledParts.isLastAxis(scale, normalised)
                || !SpelledParts.isLastAxis(bias, normalised)
                || !SpelledParts.isMean(difference.b(), difference.a())) {
            return null;
        }
        Double epsilon = epsilon(quotient.b(), deviation);
        Value x = difference.a();
        if (epsilon == null || !x.type().mustEqual(normalised.type())) {
            return null;
        }
        LayerNorm norm = new LayerNorm(x.shape().rank() - 1, epsilon, true, true);
        return List.of(into.add(norm, into.map(x), SpelledParts.vector(scale, into), SpelledParts.vector(bias, into)));
    }

    /** The epsilon of {@code sqrt(mean(d * d) + epsilon)}. */
    private static @Nullable Double epsilon(Value root, Value deviation) {
        Value sum = SpelledParts.argument(UnaryFn.SQRT, root);
        return sum == null ? null : SpelledParts.epsilon(sum, deviation);
    }
}
