package dev.tenon.cuda.blas;

import dev.tenon.cuda.tuning.Rival;
import org.jspecify.annotations.Nullable;

/** What cuBLASLt says to a problem: a product that can run, or why not. */
public sealed interface LtAnswer permits LtProduct, LtAnswer.Refusal, LtAnswer.Slower {
    /** Whether it answers who asks with that rival too: that a kernel of ours is faster helps only who has one. */
    default boolean serves(@Nullable Rival rival) {
        return rival != null || !(this instanceof Slower);
    }

    /**
     * There is no library, or it has no algorithm.
     *
     * @param reason one line
     */
    record Refusal(String reason) implements LtAnswer {}

    /**
     * A kernel of ours was faster for such problems.
     *
     * @param reason one line
     */
    record Slower(String reason) implements LtAnswer {}
}
