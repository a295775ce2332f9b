package dev.tenon.cpu.norm;

import dev.tenon.cpu.loops.Convert;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The normalisations of one lane of f64: {@code size} elements from element {@code first} on. */
final class LaneNorms {
    private static final ValueLayout.OfDouble F64 = Convert.F64;

    private LaneNorms() {}

    static void softmax(MemorySegment x, MemorySegment y, long first, long size, boolean log) {
        double max = Double.NEGATIVE_INFINITY;
        for (long i = 0; i < size; i++) {
            max = Math.max(max, x.get(F64, 8 * (first + i)));
        }
        double sum = 0;
        for (long i = 0; i < size; i++) {
            sum += Math.exp(x.get(F64, 8 * (first + i)) - max);
        }
        double logSum = Math.log(sum);
        for (long i = 0; i < size; i++) {
            double difference = x.get(F64, 8 * (first + i)) - max;
            y.set(F64, 8 * (first + i), log ? difference - logSum : Math.exp(difference) / sum);
        }
    }

    /**
     * (x - mean) / sqrt(variance + epsilon) of a row; mean 0 and the mean square for {@code rms}. The mean is the sum
     * of two numbers: the second is what rounding left of the first.
     */
    static void standardise(MemorySegment x, MemorySegment y, long first, long size, double epsilon, boolean rms) {
        double mean = rms ? 0 : sum(x, first, size, 0) / size;
        double rest = rms ? 0 : sum(x, first, size, mean) / size;
        double squares = 0;
        for (long i = 0; i < size; i++) {
            double difference = x.get(F64, 8 * (first + i)) - mean - rest;
            squares += difference * difference;
        }
        double root = Math.sqrt(squares / size + epsilon);
        for (long i = 0; i < size; i++) {
            y.set(F64, 8 * (first + i), (x.get(F64, 8 * (first + i)) - mean - rest) / root);
        }
    }

    /** The sum of the differences from {@code shift}. */
    private static double sum(MemorySegment x, long first, long size, double shift) {
        double sum = 0;
        for (long i = 0; i < size; i++) {
            sum += x.get(F64, 8 * (first + i)) - shift;
        }
        return sum;
    }
}
