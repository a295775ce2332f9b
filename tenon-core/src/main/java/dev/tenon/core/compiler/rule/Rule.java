package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One rewrite that makes a graph simpler; its Javadoc says {@code x → y}. It must hold for every value, NaN, infinities
 * and -0 among them, and must not change a type.
 */
interface Rule {
    /** The operations at which it applies; at all others it answers null. */
    Set<Class<? extends Op>> startsAt();

    /** The replacements of the node's results; null where the rule does not apply. */
    @Nullable
    List<Value> apply(Node node, Rewriter into);
}
