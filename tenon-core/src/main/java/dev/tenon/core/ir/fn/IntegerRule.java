package dev.tenon.core.ir.fn;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;

/**
 * What a function of one number does to an integer or a boolean. Results are exact modulo 2^64, so wrapping them to the
 * type gives the type's own arithmetic.
 */
public enum IntegerRule {
    NEGATE,
    MAGNITUDE,
    SIGN,
    /** 0 in the place of a negative number. */
    NOT_NEGATIVE,
    /** Between alpha and beta, each as an integer of the type. */
    CLIP,
    COMPLEMENT,
    /** Of a boolean. */
    NOT;

    /** Returns the result for {@code x}, sign- or zero-extended from the type. */
    public long apply(DType dtype, long x, double alpha, double beta) {
        return switch (this) {
            case NEGATE -> -x;
            case MAGNITUDE -> dtype.isUnsigned() ? x : Math.abs(x);
            case SIGN -> dtype.isUnsigned() ? Math.min(1, Long.bitCount(x)) : Long.signum(x);
            case NOT_NEGATIVE -> dtype.isUnsigned() ? x : Math.max(x, 0);
            case CLIP ->
                IntegerMath.least(dtype, IntegerMath.greatest(dtype, x, bound(dtype, alpha)), bound(dtype, beta));
            case COMPLEMENT -> ~x;
            case NOT -> x == 0 ? 1 : 0;
        };
    }

    private static long bound(DType dtype, double value) {
        return Elements.toLong(dtype, Elements.fromDouble(dtype, value));
    }
}
