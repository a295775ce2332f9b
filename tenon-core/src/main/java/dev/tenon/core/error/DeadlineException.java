package dev.tenon.core.error;

/** Reports a request whose deadline passed before its work began: it has done nothing. */
public final class DeadlineException extends TenonException {
    private static final long serialVersionUID = 1L;

    public DeadlineException(String message) {
        super(message);
    }

    @Override
    TenonException located(String message) {
        return new DeadlineException(message);
    }
}
