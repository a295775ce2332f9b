package dev.tenon.models.serving;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import java.time.Duration;

/**
 * How requests are put together. Immutable.
 *
 * @param waiting requests that may wait; further ones are refused
 * @param requests of a batch at most
 * @param weight of a batch at most, in the unit of the work: tokens for texts. A single request may have more
 * @param linger how long a batch waits for one more request. It waits only while fewer are there than if all clients of
 *     the last batch had asked again, and their weight leaves room. In all it never waits longer than a third of the
 *     time that one took, nor than half of what is left to a request with a deadline
 */
public record BatcherOptions(int waiting, int requests, long weight, Duration linger) {
    public BatcherOptions {
        positive("waiting", waiting);
        positive("requests", requests);
        positive("weight", weight);
        if (Require.nonNull(linger, "linger").isNegative()) {
            throw InputException.of("linger", "argument \"linger\" is " + linger + "; expected 0 or more");
        }
    }

    private static void positive(String name, long value) {
        if (value < 1) {
            throw InputException.of(name, "argument \"" + name + "\" is " + value + "; expected 1 or more");
        }
    }

    /** Returns options for a server: 1024 requests wait, batches of 256 requests or 16384 units, 5 ms for one more. */
    public static BatcherOptions defaults() {
        return new BatcherOptions(1024, 256, 1 << 14, Duration.ofMillis(5));
    }

    /** Returns these options with at most {@code count} requests waiting. */
    public BatcherOptions withWaiting(int count) {
        return new BatcherOptions(count, requests, weight, linger);
    }

    /** Returns these options with at most {@code count} requests a batch. */
    public BatcherOptions withRequests(int count) {
        return new BatcherOptions(waiting, count, weight, linger);
    }

    /** Returns these options with at most that weight a batch. */
    public BatcherOptions withWeight(long most) {
        return new BatcherOptions(waiting, requests, most, linger);
    }

    /** Returns these options with at most that wait for one more request. */
    public BatcherOptions withLinger(Duration most) {
        return new BatcherOptions(waiting, requests, weight, most);
    }
}
