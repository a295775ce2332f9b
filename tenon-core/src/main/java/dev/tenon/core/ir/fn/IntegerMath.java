package dev.tenon.core.ir.fn;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;

/** Arithmetic on integers of any type, passed as {@code long}, sign- or zero-extended. */
public final class IntegerMath {
    private IntegerMath() {}

    /** Compares two integers of a type; only u64 differs from the order of the longs. */
    public static int order(DType dtype, long a, long b) {
        return dtype == DType.U64 ? Long.compareUnsigned(a, b) : Long.compare(a, b);
    }

    static long greatest(DType dtype, long a, long b) {
        return order(dtype, a, b) >= 0 ? a : b;
    }

    static long least(DType dtype, long a, long b) {
        return order(dtype, a, b) <= 0 ? a : b;
    }

    /** Whether a shift moves every bit out; a negative count does. */
    static boolean wide(DType dtype, long count) {
        return Long.compareUnsigned(count, dtype.bits()) >= 0;
    }

    static long divisor(BinaryFn fn, DType dtype, long b) {
        if (b == 0) {
            throw new DataException(fn.word() + ": division of " + dtype + " by zero; expected a divisor other than 0");
        }
        return b;
    }

    static long pow(DType dtype, long base, long exponent) {
        if (!dtype.isUnsigned() && exponent < 0) {
            if (base == 0) {
                throw new DataException("pow: 0 to the power " + exponent + " has no value in " + dtype
                        + "; expected an exponent of 0 or more");
            }
            // the truncated quotient 1 / base^|exponent| is 0 but for the units
            return base == 1 ? 1 : base == -1 ? ((exponent & 1) == 0 ? 1 : -1) : 0;
        }
        long power = 1;
        long square = base;
        for (long rest = exponent; rest != 0; rest >>>= 1) {
            if ((rest & 1) != 0) {
                power *= square;
            }
            square *= square;
        }
        return power;
    }
}
