package dev.tenon.cuda.dnn;

/** What cuDNN has for a convolution: a plan, or none and why. */
public sealed interface DnnAnswer permits DnnPlan, DnnAnswer.Refusal {
    /**
     * There is none.
     *
     * @param reason in words
     */
    record Refusal(String reason) implements DnnAnswer {}
}
