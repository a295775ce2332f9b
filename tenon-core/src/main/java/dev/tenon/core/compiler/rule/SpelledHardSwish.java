package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code x clip(x + 3, 0, 6) / 6 → hardSwish(x)}, the division after the product or before it. */
final class SpelledHardSwish implements Rule {
    private static final double SIX = 6;

    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Binary.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (!node.output().dtype().isFloat() || !(node.op() instanceof Binary(BinaryFn fn))) {
            return null;
        }
        Value x = null;
        if (fn == BinaryFn.DIV && Match.isAll(node.input(1), SIX)) {
            Node product = Match.producer(node.input(0));
            if (product != null && is(product, BinaryFn.MUL) && into.isPrivate(node.input(0))) {
                x = gated(product, false);
            }
        } else if (fn == BinaryFn.MUL) {
            x = gated(node, true);
        }
        return x != null && x.type().mustEqual(node.output().type())
                ? List.of(into.unary(UnaryFn.HARD_SWISH, into.map(x)))
                : null;
    }

    private static boolean is(Node node, BinaryFn fn) {
        return node.op() instanceof Binary(BinaryFn own) && own == fn;
    }

    /** x, if a product's other factor is {@code clip(x + 3, 0, 6)}, divided by six where that is asked for. */
    private static @Nullable Value gated(Node product, boolean divided) {
        for (int i = 0; i < 2; i++) {
            Value x = product.input(i);
            Value gate = divided ? sixth(product.input(1 - i)) : product.input(1 - i);
            if (gate != null && isClipped(gate, x)) {
                return x;
            }
        }
        return null;
    }

    /** What a quotient by six divides; null for any other value. */
    private static @Nullable Value sixth(Value value) {
        Node quotient = Match.producer(value);
        return quotient != null && is(quotient, BinaryFn.DIV) && Match.isAll(quotient.input(1), SIX)
                ? quotient.input(0)
                : null;
    }

    private static boolean isClipped(Value value, Value x) {
        Node clip = Match.producer(value);
        if (clip == null || !(clip.op() instanceof Unary unary)) {
            return false;
        }
        boolean clips = unary.fn() == UnaryFn.CLIP && unary.alpha() == 0 && unary.beta() == SIX;
        Node sum = clips ? Match.producer(clip.input(0)) : null;
        return sum != null
                && is(sum, BinaryFn.ADD)
                && ((sum.input(0).equals(x) && Match.isAll(sum.input(1), 3))
                        || (sum.input(1).equals(x) && Match.isAll(sum.input(0), 3)));
    }
}
