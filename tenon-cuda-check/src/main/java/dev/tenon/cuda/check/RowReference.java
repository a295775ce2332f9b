package dev.tenon.cuda.check;

import dev.tenon.cuda.kernel.RowRule;

/** What the row kernels compute, in float64, by their formulas. */
final class RowReference {
    private RowReference() {}

    /** One row in place. gamma and beta are one element a column, or empty. */
    static void apply(RowRule rule, double[] row, double[] gamma, double[] beta, double epsilon) {
        switch (rule) {
            case SOFTMAX, LOG_SOFTMAX -> softmax(row, rule == RowRule.LOG_SOFTMAX);
            case LAYER_NORM -> {
                double mean = sum(row) / row.length;
                double variance = 0;
                for (double v : row) {
                    variance += (v - mean) * (v - mean) / row.length;
                }
                scale(row, mean, 1 / Math.sqrt(variance + epsilon), gamma, beta);
            }
            case RMS_NORM -> {
                double squares = 0;
                for (double v : row) {
                    squares += v * v / row.length;
                }
                scale(row, 0, 1 / Math.sqrt(squares + epsilon), gamma, beta);
            }
        }
    }

    private static void softmax(double[] row, boolean log) {
        double largest = Double.NEGATIVE_INFINITY;
        for (double v : row) {
            largest = v > largest ? v : largest;
        }
        double sum = 0;
        for (double v : row) {
            sum += Math.exp(v - largest);
        }
        for (int i = 0; i < row.length; i++) {
            row[i] = log ? row[i] - largest - Math.log(sum) : Math.exp(row[i] - largest) / sum;
        }
    }

    private static void scale(double[] row, double mean, double factor, double[] gamma, double[] beta) {
        for (int i = 0; i < row.length; i++) {
            double value = (row[i] - mean) * factor;
            value = gamma.length == 0 ? value : value * gamma[i];
            row[i] = beta.length == 0 ? value : value + beta[i];
        }
    }

    private static double sum(double[] row) {
        double sum = 0;
        for (double v : row) {
            sum += v;
        }
        return sum;
    }
}
