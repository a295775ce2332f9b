package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.PlainGraphBuilder;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What passes may know beside the graph.
 *
 * @param claims whether the backend runs a node whole, rather than the pieces that stand for it
 * @param half where the model's weights are kept in 16 bits; null where they stay as they are
 * @param constants what passes make out of the model's constants
 */
public record PassContext(Predicate<Node> claims, @Nullable HalfStore half, ConstantStore constants) {
    /** The claims of a backend that runs nothing whole. */
    public static final Predicate<Node> CLAIMS_NOTHING = node -> false;

    /** For a model of which nothing was made yet. */
    public PassContext(Predicate<Node> claims, @Nullable HalfStore half) {
        this(claims, half, new ConstantStore());
    }

    /** Whether the backend is known to run nothing whole, so that nothing need be built to ask. */
    public boolean claimsNothing() {
        return claims.equals(CLAIMS_NOTHING);
    }

    /**
     * Whether the backend may run a node of that operation whole: where not, a pass that makes nothing else has nothing
     * to look for.
     */
    public boolean mayClaim(Class<? extends Op> kind) {
        return !claimsNothing() && (!(claims instanceof Claims some) || some.mayClaim(kind));
    }

    /** Whether the backend would run an operation on those values whole. Throws what the operation's rules do. */
    public boolean claims(Op op, List<Value> operands) {
        return mayClaim(op.getClass())
                && claimed(new PlainGraphBuilder("claim").add("", op, operands).getFirst());
    }

    /** Whether the backend runs the node that makes a value whole. */
    public boolean claimed(Value result) {
        Node whole = Match.producer(result);
        return whole != null && claims.test(whole);
    }
}
