package dev.tenon.core.ir;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.UnsupportedException;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Computes sizes, offsets and counts from numbers that a file or a caller chose: an overflow is a
 * {@link ShapeException} that names the operation and the values, never a wrong number.
 *
 * <p>All such arithmetic goes through here; a test refuses {@code Math.multiplyExact} and its siblings elsewhere.
 * Stateless and thread-safe.
 */
public final class SizeMath {
    /**
     * Stands for the operation in arithmetic on dims, which does not know it; {@link Op#infer} puts the operation in
     * its place.
     */
    static final String DIMS = "dims";

    private SizeMath() {}

    /**
     * Multiplies two sizes.
     *
     * @param what the operation, for the message
     * @throws ShapeException past 2^63
     */
    public static long product(String what, long a, long b) {
        long product = a * b;
        if (overflows(a, b, product)) {
            throw overflow(what, " * ", a, b);
        }
        return product;
    }

    /**
     * Multiplies any number of sizes; a factor of 0 gives 0 whatever the others are.
     *
     * @throws ShapeException past 2^63
     */
    public static long product(String what, long... factors) {
        for (long factor : factors) {
            if (factor == 0) {
                return 0;
            }
        }
        long product = 1;
        for (long factor : factors) {
            long next = product * factor;
            if (overflows(product, factor, next)) {
                throw overflow(what, " * ", factors);
            }
            product = next;
        }
        return product;
    }

    private static boolean overflows(long a, long b, long product) {
        boolean small = (a | b) >>> 31 == 0; // most sizes, and the JVM interprets multiplyHigh slowly
        return !small && Math.multiplyHigh(a, b) != product >> 63;
    }

    /**
     * Multiplies the factors of an estimate, each 0 or more: past 2^63 it is {@link Long#MAX_VALUE}, because no result
     * depends on it.
     */
    public static long estimate(long... factors) {
        long product = 1;
        for (long factor : factors) {
            long next = product * factor;
            product = overflows(product, factor, next) ? Long.MAX_VALUE : next;
        }
        return product;
    }

    /** The estimate of two factors. */
    static long estimate(long a, long b) {
        long product = a * b;
        return overflows(a, b, product) ? Long.MAX_VALUE : product;
    }

    /** Adds two sizes, negative ones too. @throws ShapeException past 2^63 */
    public static long sum(String what, long a, long b) {
        long sum = a + b;
        if (((a ^ sum) & (b ^ sum)) < 0) {
            throw overflow(what, " + ", a, b);
        }
        return sum;
    }

    /** Adds sizes, negative ones too. @throws ShapeException past 2^63 */
    public static long sum(String what, long... terms) {
        long sum = 0;
        for (long term : terms) {
            long next = sum + term;
            if (((sum ^ next) & (term ^ next)) < 0) {
                throw overflow(what, " + ", terms);
            }
            sum = next;
        }
        return sum;
    }

    /** Rounds a size of 0 or more up to a multiple. @throws ShapeException past 2^63 */
    public static long roundUp(String what, long size, long multiple) {
        return product(what, Math.ceilDiv(size, multiple), multiple);
    }

    /**
     * Narrows a size or an index to 32 bits.
     *
     * @throws UnsupportedException when it does not fit
     */
    public static int toInt(String what, long size) {
        int narrow = (int) size;
        if (narrow != size) {
            throw new UnsupportedException(what + ": a size of " + size + " is too large; expected at most "
                    + Integer.MAX_VALUE + " here, so split the tensor or the batch");
        }
        return narrow;
    }

    /**
     * Multiplies sizes whose product has to fit 32 bits.
     *
     * @throws ShapeException or {@link UnsupportedException} when it does not
     */
    public static int toInt(String what, long... factors) {
        return toInt(what, product(what, factors));
    }

    private static ShapeException overflow(String what, String operator, long... values) {
        return new ShapeException(what + ": "
                + Arrays.stream(values).mapToObj(Long::toString).collect(Collectors.joining(operator))
                + " does not fit 64 bits; expected sizes whose result is less than 2^63");
    }
}
