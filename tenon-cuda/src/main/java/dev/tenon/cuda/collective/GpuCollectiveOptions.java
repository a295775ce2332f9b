package dev.tenon.cuda.collective;

import dev.tenon.core.error.InputException;
import java.time.Duration;

/**
 * How ranks on GPUs work together.
 *
 * @param timeout the longest that any wait may take, joining included
 * @param oneShot whether short all-reduces within a process go over peer memory where the devices allow it, instead of
 *     through NCCL
 */
public record GpuCollectiveOptions(Duration timeout, boolean oneShot) {
    private static final Duration LONGEST = Duration.ofDays(365);

    public GpuCollectiveOptions {
        if (!timeout.isPositive() || timeout.compareTo(LONGEST) > 0) {
            throw new InputException(
                    "the timeout must be positive and at most " + LONGEST.toDays() + " days, got " + timeout);
        }
    }

    /** 60 seconds, short all-reduces over peer memory. */
    public static GpuCollectiveOptions defaults() {
        return new GpuCollectiveOptions(Duration.ofSeconds(60), true);
    }

    public GpuCollectiveOptions withTimeout(Duration longest) {
        return new GpuCollectiveOptions(longest, oneShot);
    }

    public GpuCollectiveOptions withOneShot(boolean on) {
        return new GpuCollectiveOptions(timeout, on);
    }

    /** The end of a wait that begins now, on the clock of {@link System#nanoTime}. */
    long deadline() {
        return System.nanoTime() + timeout.toNanos();
    }
}
