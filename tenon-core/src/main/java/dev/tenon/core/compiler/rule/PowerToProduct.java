package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code pow(x, 2) → x * x}: the same correctly rounded square for every x, at a hundredth of the price.
 * {@code pow(x, 1) → x}.
 */
final class PowerToProduct implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Binary.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (!(node.op() instanceof Binary(var fn))
                || fn != BinaryFn.POW
                || !node.input(0).type().mustEqual(node.output().type())) {
            return null;
        }
        Value x = into.map(node.input(0));
        if (Match.isAll(node.input(1), 2)) {
            return List.of(into.mul(x, x));
        }
        return Match.isAll(node.input(1), 1) ? List.of(x) : null;
    }
}
