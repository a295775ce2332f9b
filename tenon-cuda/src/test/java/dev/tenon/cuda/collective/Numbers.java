package dev.tenon.cuda.collective;

import dev.tenon.collective.ReduceOp;

/** Elements whose reductions are exact in every type and order: small whole numbers, for products powers of two. */
final class Numbers {
    private Numbers() {}

    static double element(int rank, long i, ReduceOp op) {
        return op == ReduceOp.PROD ? 1 + (rank + i) % 2 : (rank + 1) * (1 + i % 7) % 11;
    }

    static double[] of(int rank, int length, ReduceOp op) {
        double[] values = new double[length];
        for (int i = 0; i < length; i++) {
            values[i] = element(rank, i, op);
        }
        return values;
    }

    /** Elements {@code from} and on of what all ranks must have. For a mean the world is a power of two. */
    static double[] reduced(int world, long from, int count, ReduceOp op) {
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            double value = element(0, from + i, op);
            for (int rank = 1; rank < world; rank++) {
                double other = element(rank, from + i, op);
                value = switch (op) {
                    case SUM, MEAN -> value + other;
                    case PROD -> value * other;
                    case MAX -> Math.max(value, other);
                    case MIN -> Math.min(value, other);
                };
            }
            values[i] = op == ReduceOp.MEAN ? value / world : value;
        }
        return values;
    }
}
