package dev.tenon.cuda.dnn;

/** What cuDNN has for an operation: a plan, or none and why. */
public sealed interface DnnAnswer permits DnnPlan, DnnAnswer.Refusal, DnnAnswer.Slower {
    /** Whether it answers who asks with that rival too: that a kernel of ours is faster helps only who has one. */
    default boolean serves(boolean rivalled) {
        return rivalled || !(this instanceof Slower);
    }

    /**
     * The library does not run it.
     *
     * @param reason in words
     */
    record Refusal(String reason) implements DnnAnswer {}

    /**
     * A rival of ours was timed faster for problems like it.
     *
     * @param reason in words
     */
    record Slower(String reason) implements DnnAnswer {}
}
