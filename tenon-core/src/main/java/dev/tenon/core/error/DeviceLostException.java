package dev.tenon.core.error;

/**
 * A device context that a fault has ended (an illegal address in a kernel): the message names the first fault.
 * Everything on it is gone; a new runtime may be opened where the driver allows it.
 */
public final class DeviceLostException extends TenonException {
    private static final long serialVersionUID = 1L;

    public DeviceLostException(String message) {
        super(message);
    }

    public DeviceLostException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new DeviceLostException(message);
    }
}
