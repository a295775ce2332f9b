package dev.tenon.core.error;

/**
 * Ranks that asked for different things: an operation, a length, an element type, a reduction or a root; thrown on
 * every rank, before any element moves, so that buffers are as they were and the communicator stays usable.
 */
public final class CollectiveMismatchException extends CollectiveException {
    private static final long serialVersionUID = 1L;

    public CollectiveMismatchException(String message) {
        super(message);
    }

    public CollectiveMismatchException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new CollectiveMismatchException(message);
    }
}
