package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.reduction.Reduce;
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

    private record Operands(Value a, Value b) {
        static @Nullable Operands of(@Nullable Node node, BinaryFn wanted) {
            return node != null && node.op() instanceof Binary(BinaryFn fn) && fn == wanted
                    ? new Operands(node.input(0), node.input(1))
                    : null;
        }
    }

    private static @Nullable List<Value> match(Value product, Value bias, Rewriter into) {
        Operands scaled = Operands.of(Match.producer(product), BinaryFn.MUL);
        if (scaled == null || !into.isPrivate(product)) {
            return null;
        }
        List<Value> matched = match(scaled.a(), scaled.b(), bias, into);
        return matched != null ? matched : match(scaled.b(), scaled.a(), bias, into);
    }

    private static @Nullable List<Value> match(Value normalised, Value scale, Value bias, Rewriter into) {
        Operands quotient = Operands.of(Match.producer(normalised), BinaryFn.DIV);
        if (quotient == null || !into.isPrivate(normalised)) {
            return null;
        }
        Value deviation = quotient.a();
        Operands difference = Operands.of(Match.producer(deviation), BinaryFn.SUB);
        if (difference == null
                || !isLastAxis(scale, normalised)
                || !isLastAxis(bias, normalised)
                || !isMean(difference.b(), difference.a())) {
            return null;
        }
        Double epsilon = epsilon(quotient.b(), deviation);
        Value x = difference.a();
        if (epsilon == null || !x.type().mustEqual(normalised.type())) {
            return null;
        }
        LayerNorm norm = new LayerNorm(x.shape().rank() - 1, epsilon, true, true);
        return List.of(into.add(norm, into.map(x), vector(scale, into), vector(bias, into)));
    }

    /** The epsilon of {@code sqrt(mean(d * d) + epsilon)}. */
    private static @Nullable Double epsilon(Value root, Value deviation) {
        Node sqrt = Match.producer(root);
        if (sqrt == null || !(sqrt.op() instanceof Unary unary) || unary.fn() != UnaryFn.SQRT) {
            return null;
        }
        Operands sum = Operands.of(Match.producer(sqrt.input(0)), BinaryFn.ADD);
        if (sum == null) {
            return null;
        }
        Value variance = Match.splat(sum.b()) != null ? sum.a() : sum.b();
        Double epsilon = Match.splat(variance.equals(sum.a()) ? sum.b() : sum.a());
        Node mean = Match.producer(variance);
        boolean ofSquares = mean != null && isMean(variance, mean.input(0)) && isSquare(mean.input(0), deviation);
        return ofSquares ? epsilon : null;
    }

    private static boolean isSquare(Value value, Value of) {
        Operands product = Operands.of(Match.producer(value), BinaryFn.MUL);
        return product != null && product.a().equals(of) && product.b().equals(of);
    }

    private static boolean isMean(Value value, Value of) {
        Node node = Match.producer(value);
        return node != null
                && node.op() instanceof Reduce(ReduceFn fn, List<Integer> axes, boolean keepDims)
                && fn == ReduceFn.MEAN
                && keepDims
                && of.shape().isRanked()
                && node.input(0).equals(of)
                && axes.equals(List.of(of.shape().rank() - 1));
    }

    /** Whether a value has one element for each position of the last axis. */
    private static boolean isLastAxis(Value value, Value of) {
        Shape shape = value.shape();
        return shape.isConcrete()
                && of.shape().isRanked()
                && shape.rank() >= 1
                && shape.rank() <= of.shape().rank()
                && of.shape().dim(of.shape().rank() - 1).is(shape.elements())
                && shape.size(shape.rank() - 1) == shape.elements();
    }

    private static Value vector(Value value, Rewriter into) {
        Value mapped = into.map(value);
        return mapped.shape().rank() == 1
                ? mapped
                : into.add(new Reshape(List.of(mapped.shape().elements())), mapped);
    }
}
