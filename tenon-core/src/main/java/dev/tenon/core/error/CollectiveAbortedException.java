package dev.tenon.core.error;

/**
 * A communicator that was aborted, or that broke in the middle of moving elements: buffers may hold partial results,
 * and every later call fails until a new communicator is opened.
 */
public final class CollectiveAbortedException extends CollectiveException {
    private static final long serialVersionUID = 1L;

    public CollectiveAbortedException(String message) {
        super(message);
    }

    public CollectiveAbortedException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new CollectiveAbortedException(message);
    }
}
