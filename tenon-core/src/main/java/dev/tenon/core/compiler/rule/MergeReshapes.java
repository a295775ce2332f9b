package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Reshape;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code reshape(reshape(x)) → reshape(x)}. */
final class MergeReshapes implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Reshape.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        Node before = node.op() instanceof Reshape ? Match.producer(node.input(0)) : null;
        return before != null && before.op() instanceof Reshape
                ? into.addAll(node.op(), List.of(into.map(before.input(0))))
                : null;
    }
}
