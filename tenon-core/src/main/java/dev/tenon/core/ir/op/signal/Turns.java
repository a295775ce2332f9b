package dev.tenon.core.ir.op.signal;

/**
 * Cosines and sines of parts of a turn, by angles of at most an eighth: the rounding of larger angles would be what
 * long transforms in double are wrong by.
 */
public final class Turns {
    private Turns() {}

    /** The cosine of {@code part / whole} turns, for parts from 0 to the whole. */
    public static double cos(long part, long whole) {
        long halves = Math.min(2 * part, 2 * (whole - part)); // of the angle pi / whole, 0 to whole
        return 2 * halves > whole ? -first(whole - halves, whole) : first(halves, whole);
    }

    /** The sine of {@code part / whole} turns, for parts from 0 to the whole. */
    public static double sin(long part, long whole) {
        boolean negative = 2 * part > whole;
        long halves = negative ? 2 * (whole - part) : 2 * part;
        long least = Math.min(halves, whole - halves);
        double sine = 4 * least > whole
                ? Math.cos(Math.PI * (whole - 2 * least) / (2 * whole))
                : Math.sin(Math.PI * least / whole);
        return negative ? -sine : sine;
    }

    /** The cosine of an angle of the first quarter. */
    private static double first(long halves, long whole) {
        return 4 * halves > whole
                ? Math.sin(Math.PI * (whole - 2 * halves) / (2 * whole))
                : Math.cos(Math.PI * halves / whole);
    }
}
