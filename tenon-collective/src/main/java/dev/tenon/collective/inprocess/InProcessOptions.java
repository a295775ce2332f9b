package dev.tenon.collective.inprocess;

import dev.tenon.collective.Algorithm;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the ranks of one process work together.
 *
 * @param algorithm the way to an all-reduce
 * @param timeout the longest that any wait may take
 * @param cores cores that the ranks share: ranks only spin when there is one for each
 * @param listener told of every step of a ring over arrays; null for nobody
 */
public record InProcessOptions(
        Algorithm algorithm,
        Duration timeout,
        int cores,
        @Nullable RingListener listener) {
    private static final Duration LONGEST = Duration.ofDays(365);

    public InProcessOptions {
        Require.nonNull(algorithm, "algorithm");
        Require.nonNull(timeout, "timeout");
        if (!timeout.isPositive() || timeout.compareTo(LONGEST) > 0) {
            throw new InputException(
                    "the timeout must be positive and at most " + LONGEST.toDays() + " days, got " + timeout);
        }
        if (cores < 1) {
            throw new InputException("cores must be at least 1, got " + cores);
        }
    }

    /** The algorithm by size, 60 seconds, and all cores that the JVM sees. */
    public static InProcessOptions defaults() {
        return new InProcessOptions(
                Algorithm.AUTO, Duration.ofSeconds(60), Runtime.getRuntime().availableProcessors(), null);
    }

    public InProcessOptions withAlgorithm(Algorithm named) {
        return new InProcessOptions(Require.nonNull(named, "named"), timeout, cores, listener);
    }

    public InProcessOptions withTimeout(Duration longest) {
        return new InProcessOptions(algorithm, Require.nonNull(longest, "longest"), cores, listener);
    }

    public InProcessOptions withCores(int count) {
        return new InProcessOptions(algorithm, timeout, count, listener);
    }

    public InProcessOptions withListener(RingListener told) {
        return new InProcessOptions(algorithm, timeout, cores, Require.nonNull(told, "told"));
    }
}
