package dev.tenon.core.ir.reference;

import java.util.function.IntToDoubleFunction;

/** Sums whose error does not grow with their length. */
public final class Summation {
    private static final int BLOCK = 32;

    private Summation() {}

    /** The sum of {@code term(0) ... term(count - 1)}, pairwise. */
    public static double sum(int count, IntToDoubleFunction term) {
        return sum(0, count, term);
    }

    private static double sum(int from, int to, IntToDoubleFunction term) {
        if (to - from > BLOCK) {
            int middle = (from + to) >>> 1;
            return sum(from, middle, term) + sum(middle, to, term);
        }
        double sum = 0;
        for (int i = from; i < to; i++) {
            sum += term.applyAsDouble(i);
        }
        return sum;
    }

    /** A running sum with Neumaier's compensation. Not thread-safe. */
    public static final class Running {
        private double sum;
        private double lost;

        public void add(double term) {
            double next = sum + term;
            lost += Math.abs(sum) >= Math.abs(term) ? (sum - next) + term : (term - next) + sum;
            sum = next;
        }

        /** The sum so far; infinities and NaN as plain addition has them, where the compensation means nothing. */
        public double value() {
            return Double.isNaN(sum) || Double.isInfinite(sum) ? sum : sum + lost;
        }
    }
}
