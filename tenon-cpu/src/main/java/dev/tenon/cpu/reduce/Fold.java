package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.fn.ReduceFn;

/**
 * What a reduction of floats does with its terms: a running double, from {@link #start} through {@link #join} to
 * {@link #finish}.
 */
final class Fold {
    private Fold() {}

    static double start(ReduceFn fn) {
        return switch (fn) {
            case MAX -> Double.NEGATIVE_INFINITY;
            case MIN -> Double.POSITIVE_INFINITY;
            case PROD -> 1;
            case SUM, MEAN, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE, ANY, ALL -> 0;
        };
    }

    /** A running value and an element; {@code max} is the largest element, for {@code LOG_SUM_EXP}. */
    static double join(ReduceFn fn, double running, double x, double max) {
        return switch (fn) {
            case MAX -> Math.max(running, x);
            case MIN -> Math.min(running, x);
            case PROD -> running * x;
            case SUM, MEAN, LOG_SUM, ANY, ALL -> running + x;
            case L1 -> running + Math.abs(x);
            case L2, SUM_SQUARE -> running + x * x;
            case LOG_SUM_EXP -> running + Math.exp(x - max);
        };
    }

    /** Two running values, of different elements. */
    static double joinRunning(ReduceFn fn, double a, double b) {
        return switch (fn) {
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
            case PROD -> a * b;
            case SUM, MEAN, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE, ANY, ALL -> a + b;
        };
    }

    static double finish(ReduceFn fn, double running, long count, double max) {
        return switch (fn) {
            case SUM, MAX, MIN, PROD, L1, SUM_SQUARE, ANY, ALL -> running;
            case MEAN -> running / count;
            case L2 -> Math.sqrt(running);
            case LOG_SUM -> Math.log(running);
            // an infinite maximum is the answer itself, and would make NaN of the differences
            case LOG_SUM_EXP -> Double.isInfinite(max) ? max : max + Math.log(running);
        };
    }
}
