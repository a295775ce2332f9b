package dev.tenon.cli.console;

import java.util.Arrays;
import java.util.Map;

/** Times of one thing done many times, in microseconds. */
public final class Samples {
    private final double[] sorted;

    private Samples(double[] sorted) {
        this.sorted = sorted;
    }

    /** Times that were taken elsewhere, in microseconds; at least one. */
    public static Samples of(double[] micros) {
        double[] sorted = micros.clone();
        Arrays.sort(sorted);
        return new Samples(sorted);
    }

    /** More rounds than a JVM needs to compile everything that a model runs. */
    private static final int WARM_UP_ROUNDS = 10;

    /** Does a thing some times over, and says how long each took. */
    public interface Timing {
        /** @return microseconds, one number a run */
        public double[] micros(int runs);
    }

    /** {@link #measure(Timing, int, int, double)} of work that the calling thread does, timed from outside. */
    public static Samples measure(Runnable work, int least, double seconds) {
        return measure(
                _ -> {
                    long before = System.nanoTime();
                    work.run();
                    return new double[] {(System.nanoTime() - before) / 1e3};
                },
                1,
                least,
                seconds);
    }

    /**
     * Warms up, then measures: rounds of at least {@code least} runs and at least {@code seconds}. The warm-up goes on
     * while a round's median is a tenth better than the one before, since kernels change under way from loops that
     * start fast to loops that run fast.
     *
     * @param batch runs to ask for at once
     */
    public static Samples measure(Timing timing, int batch, int least, double seconds) {
        Samples before = new Samples(repeat(timing, batch, least, seconds));
        Samples after = new Samples(repeat(timing, batch, least, seconds));
        for (int round = 2; round < WARM_UP_ROUNDS && after.median() < 0.9 * before.median(); round++) {
            before = after;
            after = new Samples(repeat(timing, batch, least, seconds));
        }
        return after;
    }

    private static double[] repeat(Timing timing, int batch, int least, double seconds) {
        double[] micros = new double[Math.max(least, batch)];
        int runs = 0;
        long start = System.nanoTime();
        while (runs < least || (System.nanoTime() - start < seconds * 1e9 && runs < 1_000_000)) {
            double[] more = timing.micros(batch);
            if (runs + more.length > micros.length) {
                micros = Arrays.copyOf(micros, 2 * runs + more.length);
            }
            System.arraycopy(more, 0, micros, runs, more.length);
            runs += more.length;
        }
        double[] all = Arrays.copyOf(micros, runs);
        Arrays.sort(all);
        return all;
    }

    public int count() {
        return sorted.length;
    }

    public double median() {
        return quantile(0.5);
    }

    public double p95() {
        return quantile(0.95);
    }

    public double p99() {
        return quantile(0.99);
    }

    public double min() {
        return sorted[0];
    }

    public double max() {
        return sorted[sorted.length - 1];
    }

    /** Adds what a bench's object says of times. */
    public void into(Map<String, Object> object) {
        object.put("median_us", median());
        object.put("p95_us", p95());
        object.put("min_us", min());
        object.put("max_us", max());
    }

    /** The nearest rank, averaged with the next where the rank falls between two. */
    private double quantile(double q) {
        double rank = q * (sorted.length - 1);
        int low = (int) rank;
        int high = Math.min(low + 1, sorted.length - 1);
        return sorted[low] + (rank - low) * (sorted[high] - sorted[low]);
    }
}
