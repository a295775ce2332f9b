package dev.tenon.cuda.dnn;

/** What cuDNN has for an operation: a plan, or none and why. */
public sealed interface DnnAnswer permits DnnPlan, DnnAnswer.Refusal, DnnAnswer.Slower {
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
