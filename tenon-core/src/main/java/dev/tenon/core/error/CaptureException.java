package dev.tenon.core.error;

/**
 * A call that cannot be recorded into a device graph, named by the message. What was recorded is gone; the stream stays
 * usable.
 */
public final class CaptureException extends TenonException {
    private static final long serialVersionUID = 1L;

    public CaptureException(String message) {
        super(message);
    }

    public CaptureException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new CaptureException(message);
    }
}
