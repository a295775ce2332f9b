package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Binary;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code x * 1 → x}, {@code x / 1 → x}, {@code x - 0 → x}; for integers also {@code x + 0 → x}. Not {@code x + 0} of
 * floats (-0 + 0 is +0), not {@code x * 0}, {@code x - x}, {@code x / x} (NaN, infinities).
 */
final class ArithmeticIdentities implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Binary.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (!(node.op() instanceof Binary(var fn))) {
            return null;
        }
        Value a = node.input(0);
        Value b = node.input(1);
        boolean integer = node.output().dtype().isInteger();
        return switch (fn) {
            case MUL -> Match.isAll(b, 1) ? keep(a, node, into) : Match.isAll(a, 1) ? keep(b, node, into) : null;
            case DIV -> Match.isAll(b, 1) ? keep(a, node, into) : null;
            case SUB -> isPlusZero(b) ? keep(a, node, into) : null;
            case ADD ->
                !integer
                        ? null
                        : Match.isAll(b, 0) ? keep(a, node, into) : Match.isAll(a, 0) ? keep(b, node, into) : null;
            case FLOOR_DIV, MOD, FMOD, POW, PRELU, MAX, MIN, ATAN2, AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR ->
                null;
        };
    }

    /** -0 - (-0) is +0: only a true +0 may go. */
    private static boolean isPlusZero(Value value) {
        Double splat = Match.splat(value);
        return splat != null && Double.doubleToRawLongBits(splat) == 0;
    }

    private static @Nullable List<Value> keep(Value kept, Node node, Rewriter into) {
        return kept.type().mustEqual(node.output().type()) ? List.of(into.map(kept)) : null;
    }
}
