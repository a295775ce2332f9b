package dev.tenon.cuda.kernel;

/**
 * What a norm is finished with.
 *
 * @param gamma device address of the factors; 0 for none
 * @param beta device address of the summands; 0 for none
 * @param epsilon added to the variance
 */
public record Affine(long gamma, long beta, double epsilon) {
    /** For rows that are no norm's. */
    public static final Affine NONE = new Affine(0, 0, 0);
}
