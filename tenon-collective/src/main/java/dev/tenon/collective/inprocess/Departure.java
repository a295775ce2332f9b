package dev.tenon.collective.inprocess;

import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.DeadRankException;
import org.jspecify.annotations.Nullable;

/**
 * A rank that will not come again.
 *
 * @param missed the first round that it does not come to
 */
record Departure(
        int departed, long missed, String how, @Nullable Throwable cause) implements Failure {
    @Override
    public CollectiveException at(int rank) {
        String message = "rank " + rank + " waits for rank " + departed + ", which " + how;
        return cause == null ? new DeadRankException(message) : new DeadRankException(message, cause);
    }
}
