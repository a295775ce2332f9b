package dev.tenon.core.ir;

/**
 * How far an element may be from the reference rounded to its type: {@code absolute + relative * |expected|}. Integers
 * and booleans are exact always; NaN equals NaN, an infinity itself.
 */
public record Tolerance(double relative, double absolute) {
    /** Bit for bit, signs of zeros too; any NaN equals any other. */
    public static final Tolerance EXACT = new Tolerance(0, 0);

    /**
     * One step of the type for the final rounding, a few dozen steps of its accumulator for the functions on the way,
     * and the square root of a sum's length more, which is how rounding errors of either sign add up. For inputs of
     * magnitude around 1.
     */
    public static Tolerance of(DType dtype, long reductionLength) {
        if (!dtype.isFloat()) {
            return EXACT;
        }
        double inner = epsilon(dtype.accumulator());
        double spread = Math.sqrt((double) reductionLength);
        return new Tolerance(epsilon(dtype) + inner * (64 + 4 * spread), inner * 8 * (1 + spread));
    }

    /** The distance from 1 to the next number of a float type. */
    public static double epsilon(DType dtype) {
        return switch (dtype) {
            case F64 -> 0x1p-52;
            case F32 -> 0x1p-23;
            case F16 -> 0x1p-10;
            case BF16 -> 0x1p-7;
            case F8E4M3 -> 0x1p-3;
            case F8E5M2 -> 0x1p-2;
            case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
                throw new IllegalArgumentException(dtype + " is not a float type");
        };
    }

    /** Compares two arrays. @throws AssertionError naming the first element that differs */
    public void check(String what, NdArray expected, NdArray actual) {
        if (!expected.type().equals(actual.type())) {
            throw new AssertionError(what + ": is " + actual.type() + "; expected " + expected.type());
        }
        for (int i = 0; i < expected.size(); i++) {
            boolean fits = expected.dtype().isFloat()
                    ? accepts(rounded(expected.dtype(), expected.get(i)), rounded(actual.dtype(), actual.get(i)))
                    : expected.getLong(i) == actual.getLong(i);
            if (!fits) {
                throw new AssertionError(what + ": element " + i + " of " + expected.type() + " is " + actual.get(i)
                        + "; expected " + expected.get(i) + " within " + this);
            }
        }
    }

    /** Whether a number is near enough to the expected one. */
    public boolean accepts(double expected, double actual) {
        if (equals(EXACT) || !Double.isFinite(expected)) {
            return Double.doubleToLongBits(expected) == Double.doubleToLongBits(actual);
        }
        return Math.abs(actual - expected) <= absolute + relative * Math.abs(expected);
    }

    /** The number of that type that memory would hold. */
    public static double rounded(DType dtype, double value) {
        return Elements.toDouble(dtype, Elements.fromDouble(dtype, value));
    }
}
