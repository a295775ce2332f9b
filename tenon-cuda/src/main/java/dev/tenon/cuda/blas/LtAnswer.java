package dev.tenon.cuda.blas;

/** What cuBLASLt says to a problem: a product that can run, or why not. */
public sealed interface LtAnswer permits LtProduct, LtAnswer.Refusal, LtAnswer.Slower {
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
