package dev.tenon.collective;

import java.util.Locale;

/**
 * How the elements of all ranks become one.
 *
 * <p>Integers wrap as Java's do, unsigned types count as unsigned; short floats (f16, bf16, f8) are added up in f32 and
 * rounded once. NaN on any rank gives NaN; of the zeros {@code max} takes +0 and {@code min} takes -0.
 */
public enum ReduceOp {
    SUM,
    PROD,
    MAX,
    MIN,
    /**
     * The sum divided by the number of ranks; of integers the quotient is truncated towards zero, and only sums of
     * 64-bit ones can wrap before.
     */
    MEAN;

    /** The lower-case name. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
