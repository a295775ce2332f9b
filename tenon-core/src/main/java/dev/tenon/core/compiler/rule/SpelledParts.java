package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What spelled norms have in common: means over the last axis, squares, and vectors along it. */
final class SpelledParts {
    private SpelledParts() {}

    /** The operands of a function of two. */
    record Operands(Value a, Value b) {
        static @Nullable Operands of(@Nullable Node node, BinaryFn wanted) {
            return node != null && node.op() instanceof Binary(BinaryFn fn) && fn == wanted
                    ? new Operands(node.input(0), node.input(1))
                    : null;
        }

        static @Nullable Operands of(Value value, BinaryFn wanted) {
            return of(Match.producer(value), wanted);
        }
    }

    /** What a value is a function of; null where it is something else. */
    static @Nullable Value argument(UnaryFn fn, Value value) {
        Node node = Match.producer(value);
        return node != null && node.op() instanceof Unary unary && unary.fn() == fn ? node.input(0) : null;
    }

    /** The epsilon of {@code mean(x * x) + epsilon}; null where a value is something else, or its epsilon no norm's. */
    static @Nullable Double epsilon(Value value, Value x) {
        Operands sum = Operands.of(value, BinaryFn.ADD);
        if (sum == null) {
            return null;
        }
        Value second = Match.splat(sum.b()) != null ? sum.a() : sum.b();
        Double epsilon = Match.splat(second.equals(sum.a()) ? sum.b() : sum.a());
        Node mean = Match.producer(second);
        boolean ofSquares = mean != null && isMean(second, mean.input(0)) && isSquare(mean.input(0), x);
        return ofSquares && epsilon != null && epsilon >= 0 ? epsilon : null;
    }

    private static boolean isSquare(Value value, Value of) {
        Operands product = Operands.of(value, BinaryFn.MUL);
        return product != null && product.a().equals(of) && product.b().equals(of);
    }

    /** Whether a value is the mean of another over its last axis, which is kept. */
    static boolean isMean(Value value, Value of) {
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
    static boolean isLastAxis(Value value, Value of) {
        Shape shape = value.shape();
        return shape.isConcrete()
                && of.shape().isRanked()
                && shape.rank() >= 1
                && shape.rank() <= of.shape().rank()
                && of.shape().dim(of.shape().rank() - 1).is(shape.elements())
                && shape.size(shape.rank() - 1) == shape.elements();
    }

    /** A value of one element for each position of the last axis, as a vector. */
    static Value vector(Value value, Rewriter into) {
        Value mapped = into.map(value);
        return mapped.shape().rank() == 1
                ? mapped
                : into.add(new Reshape(List.of(mapped.shape().elements())), mapped);
    }
}
