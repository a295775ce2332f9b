package dev.tenon.cli.soak;

import java.util.ArrayList;
import java.util.List;

/**
 * A quantity over time, and whether it grows: a line through the samples after the warm-up, by least squares. Used by
 * one thread.
 */
final class MemoryTrend {
    /** Growth over the measured time that is noise: this share of the mean, and this many bytes. */
    private static final double NOISE_SHARE = 0.03;

    private static final double NOISE_BYTES = 16 << 20;

    private final String name;
    private final double warmUpSeconds;
    private final List<double[]> samples = new ArrayList<>();

    /** @param warmUpSeconds how long samples do not count */
    MemoryTrend(String name, double warmUpSeconds) {
        this.name = name;
        this.warmUpSeconds = warmUpSeconds;
    }

    String name() {
        return name;
    }

    /** Adds a sample; a negative number means that the system does not report the quantity. */
    void add(double seconds, long bytes) {
        if (seconds >= warmUpSeconds && bytes >= 0) {
            samples.add(new double[] {seconds, bytes});
        }
    }

    boolean measured() {
        return samples.size() >= 3;
    }

    double mean() {
        return samples.stream().mapToDouble(sample -> sample[1]).average().orElse(0);
    }

    /** Bytes a second. */
    double slope() {
        double time =
                samples.stream().mapToDouble(sample -> sample[0]).average().orElse(0);
        double mean = mean();
        double both = 0;
        double squares = 0;
        for (double[] sample : samples) {
            both += (sample[0] - time) * (sample[1] - mean);
            squares += (sample[0] - time) * (sample[0] - time);
        }
        return squares == 0 ? 0 : both / squares;
    }

    /** Bytes that the line rises from the first sample that counts to the last. */
    double growth() {
        return samples.isEmpty() ? 0 : slope() * (samples.getLast()[0] - samples.getFirst()[0]);
    }

    boolean grows() {
        return measured() && growth() > NOISE_SHARE * mean() + NOISE_BYTES;
    }
}
