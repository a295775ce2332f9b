package dev.tenon.mpi;

import dev.tenon.core.error.InputException;
import java.time.Duration;

/**
 * How a process joins MPI.
 *
 * @param timeout the longest that any operation may take
 */
public record MpiOptions(Duration timeout) {
    public MpiOptions {
        if (!timeout.isPositive() || timeout.compareTo(Duration.ofDays(365)) > 0) {
            throw new InputException("the timeout must be positive and at most 365 days, got " + timeout);
        }
    }

    /** 60 seconds. */
    public static MpiOptions defaults() {
        return new MpiOptions(Duration.ofSeconds(60));
    }

    public MpiOptions withTimeout(Duration longest) {
        return new MpiOptions(longest);
    }
}
