package dev.tenon.core.error;

/**
 * A collective operation that could not be done by all ranks; the message names the operation, the ranks and what each
 * of them asked for.
 */
public abstract sealed class CollectiveException extends TenonException
        permits CollectiveMismatchException, CollectiveTimeoutException, DeadRankException, CollectiveAbortedException {
    private static final long serialVersionUID = 1L;

    CollectiveException(String message) {
        super(message);
    }

    CollectiveException(String message, Throwable cause) {
        super(message, cause);
    }
}
