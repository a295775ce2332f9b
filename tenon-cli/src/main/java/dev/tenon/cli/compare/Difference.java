package dev.tenon.cli.compare;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;

/**
 * How far a value is from what it should be.
 *
 * @param largest the largest distance of an element, as a share of the largest magnitude expected; infinite where one
 *     is finite and the other is not
 * @param allowed what rounding explains, as such a share
 * @param element where the distance is largest
 */
record Difference(double largest, double allowed, int element) {
    /** Whether rounding explains it. */
    boolean isSmall() {
        return largest <= allowed;
    }

    /**
     * Compares arrays of one type.
     *
     * @param epsilon of what products and functions were computed in, if coarser than that of the values; 0 if not
     * @param sums how many terms an element sums up
     */
    static Difference of(NdArray expected, NdArray actual, double epsilon, long sums) {
        if (!expected.dtype().isFloat()) {
            return ofIntegers(expected, actual);
        }
        double scale = 0;
        for (int i = 0; i < expected.size(); i++) {
            double magnitude = Math.abs(expected.get(i));
            scale = Double.isFinite(magnitude) ? Math.max(scale, magnitude) : scale;
        }
        double largest = 0;
        int element = 0;
        for (int i = 0; i < expected.size(); i++) {
            double distance = distance(
                    Tolerance.rounded(expected.dtype(), expected.get(i)),
                    actual.get(i),
                    Math.max(scale, Double.MIN_NORMAL));
            if (distance > largest) {
                largest = distance;
                element = i;
            }
        }
        return new Difference(largest, allowed(expected.dtype(), epsilon, sums), element);
    }

    /** The tolerance of all checks of ours, at magnitude 1; wider where operands are rounded to fewer bits. */
    private static double allowed(DType dtype, double epsilon, long sums) {
        Tolerance tolerance = Tolerance.of(dtype, sums);
        double coarser = Math.max(1, epsilon / Tolerance.epsilon(dtype.accumulator()));
        return tolerance.relative() + tolerance.absolute() * coarser;
    }

    private static double distance(double expected, double actual, double scale) {
        if (Double.isFinite(expected) && Double.isFinite(actual)) {
            return Math.abs(actual - expected) / scale;
        }
        return Double.compare(expected, actual) == 0 ? 0 : Double.POSITIVE_INFINITY;
    }

    private static Difference ofIntegers(NdArray expected, NdArray actual) {
        for (int i = 0; i < expected.size(); i++) {
            if (expected.getLong(i) != actual.getLong(i)) {
                return new Difference(Double.POSITIVE_INFINITY, 0, i);
            }
        }
        return new Difference(0, 0, 0);
    }
}
