package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code 0.5 * x * (1 + erf(x / sqrt 2)) → gelu(x)}, in whatever order and grouping the product stands. The division
 * may be a multiplication by 1/sqrt 2.
 */
final class SpelledGelu implements Rule {
    /** Exporters write sqrt 2 in f32, or in the file's type. */
    private static final double CLOSE = 1e-6;

    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Binary.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (!isProduct(node) || !node.output().dtype().isFloat()) {
            return null;
        }
        List<Value> factors = new ArrayList<>();
        collect(node.output(), node, into, factors);
        Value x = factors.size() == 3 ? argument(factors) : null;
        return x != null && x.type().mustEqual(node.output().type())
                ? List.of(into.unary(UnaryFn.GELU, into.map(x)))
                : null;
    }

    private static boolean isProduct(Node node) {
        return node.op() instanceof Binary(BinaryFn fn) && fn == BinaryFn.MUL;
    }

    /** The factors of nested products; inner ones must have no other consumer. */
    private static void collect(Value value, Node top, Rewriter into, List<Value> factors) {
        Node node = Match.producer(value);
        boolean inner = node != null && isProduct(node) && (node == top || into.isPrivate(value));
        if (node == null || !inner) {
            factors.add(value);
            return;
        }
        node.inputs().forEach(input -> collect(input, top, into, factors));
    }

    /** x, if the factors are 0.5, x and 1 + erf(x / sqrt 2). */
    private static @Nullable Value argument(List<Value> factors) {
        Value half = factors.stream()
                .filter(value -> Match.isAll(value, 0.5))
                .findFirst()
                .orElse(null);
        if (half == null) {
            return null;
        }
        List<Value> others =
                factors.stream().filter(value -> !value.equals(half)).toList();
        for (int i = 0; others.size() == 2 && i < 2; i++) {
            Value x = others.get(1 - i);
            if (isOnePlusErf(others.get(i), x)) {
                return x;
            }
        }
        return null;
    }

    private static boolean isOnePlusErf(Value value, Value x) {
        Node sum = Match.producer(value);
        if (sum == null || !(sum.op() instanceof Binary(BinaryFn fn)) || fn != BinaryFn.ADD) {
            return false;
        }
        Value erf = Match.isAll(sum.input(1), 1) ? sum.input(0) : Match.isAll(sum.input(0), 1) ? sum.input(1) : null;
        Node node = erf == null ? null : Match.producer(erf);
        return node != null
                && node.op() instanceof Unary unary
                && unary.fn() == UnaryFn.ERF
                && isScaled(node.input(0), x);
    }

    private static boolean isScaled(Value value, Value x) {
        Node node = Match.producer(value);
        if (node == null || !(node.op() instanceof Binary(BinaryFn fn))) {
            return false;
        }
        if (fn == BinaryFn.DIV) {
            return node.input(0).equals(x) && isNear(node.input(1), Math.sqrt(2));
        }
        return fn == BinaryFn.MUL
                && ((node.input(0).equals(x) && isNear(node.input(1), Math.sqrt(0.5)))
                        || (node.input(1).equals(x) && isNear(node.input(0), Math.sqrt(0.5))));
    }

    private static boolean isNear(Value value, double number) {
        Double splat = Match.splat(value);
        if (splat == null) {
            return false;
        }
        double rounded = Elements.toDouble(value.dtype(), Elements.fromDouble(value.dtype(), number));
        return Math.abs(splat - number) < CLOSE || splat == rounded; // of a file in f16: sqrt 2 as f16 has it
    }
}
