package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;

/**
 * States how far every backend's result of a {@link UnaryFn} may be from the exact one, for every argument, in units in
 * the last place (ulp) of the result.
 *
 * <p>One ulp is the distance between neighbouring numbers of the result's type at the exact result; among subnormal
 * numbers, that of the smallest ones. NaN must be NaN; an exact result beyond the type's range may be infinity or
 * within the bound of it, 2^128 for f32. f16 and bf16 are computed in f32 and rounded once. Parameters are taken as
 * numbers of f32. Those of CUDA's library are in the CUDA C++ Programming Guide, "Mathematical Functions"; those of our
 * own formulas were measured on every number of f32. docs/accuracy.md prints the table; one test holds every backend to
 * it. Thread-safe.
 */
public final class UnaryAccuracy {
    /** A rounding, and what computing in f32 adds: at most 6 ulp of f32, of which an ulp of f16 has 2^13. */
    private static final double HALF = 0.51;

    /** What the reference, which is computed in float64, may itself be off. */
    private static final double REFERENCE = 1e-5;

    private UnaryAccuracy() {}

    /**
     * Returns the bound in ulp.
     *
     * @throws IllegalArgumentException for other types than f32, f16 and bf16, whose accuracy is not stated
     */
    public static double bound(UnaryFn fn, DType dtype) {
        return switch (dtype) {
            case F32 -> fn.ulp();
            case F16, BF16 -> HALF;
            case F64, F8E4M3, F8E5M2, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
                throw new IllegalArgumentException("unary accuracy: is not stated for " + dtype);
        };
    }

    /** Returns how far a result is from the exact one, in ulp; infinity where one is NaN and the other is not. */
    public static double error(DType dtype, double exact, double actual) {
        if (Double.isNaN(exact) || Double.isNaN(actual)) {
            return Double.isNaN(exact) && Double.isNaN(actual) ? 0 : Double.POSITIVE_INFINITY;
        }
        double range = Math.scalb(1.0, largestExponent(dtype) + 1);
        double inside = Math.max(-range, Math.min(range, exact));
        double reached = Math.max(-range, Math.min(range, actual));
        int exponent = Math.min(largestExponent(dtype), Math.max(Math.getExponent(inside), smallestExponent(dtype)));
        return Math.abs(reached - inside) / (Math.scalb(1.0, exponent) * Tolerance.epsilon(dtype));
    }

    /**
     * Checks one result against the bound, and the sign of a zero whose argument is a zero; that of a leaky relu has
     * the sign of its product.
     *
     * @throws AssertionError naming function, argument, result and error
     */
    public static void check(Unary op, DType dtype, double x, double actual) {
        double exact = op.apply(x);
        double error = error(dtype, exact, actual);
        boolean anySign = exact != 0 || (x != 0 && op.fn() != UnaryFn.LEAKY_RELU);
        boolean signed = anySign || Math.copySign(1, exact) == Math.copySign(1, actual);
        if (!(error <= bound(op.fn(), dtype) + REFERENCE) || !signed) {
            throw new AssertionError(op + " of " + dtype + " " + x + " is " + actual + ", off by " + error
                    + " ulp; expected " + exact + " within " + bound(op.fn(), dtype) + " ulp");
        }
    }

    private static int largestExponent(DType dtype) {
        return dtype == DType.F16 ? 15 : 127;
    }

    private static int smallestExponent(DType dtype) {
        return dtype == DType.F16 ? -14 : -126;
    }
}
