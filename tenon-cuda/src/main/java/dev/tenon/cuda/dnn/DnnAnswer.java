package dev.tenon.cuda.dnn;

/** What cuDNN has for an operation: a plan, or none and why. */
public sealed interface DnnAnswer permits DnnPlan, DnnAnswer.Refusal {
    /**
     * The library does not run it.
     *
     * @param reason in words
     */
    record Refusal(String reason) implements DnnAnswer {}
}
