package dev.tenon.core.error;

/**
 * Ranks that did not come, or did not finish, within the timeout; the message names them. When they had not all come,
 * nothing was moved and the communicator stays usable.
 */
public final class CollectiveTimeoutException extends CollectiveException {
    private static final long serialVersionUID = 1L;

    public CollectiveTimeoutException(String message) {
        super(message);
    }

    public CollectiveTimeoutException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new CollectiveTimeoutException(message);
    }
}
