package dev.tenon.core.error;

/** A rank that failed or left while others wait for it. */
public final class DeadRankException extends CollectiveException {
    private static final long serialVersionUID = 1L;

    public DeadRankException(String message) {
        super(message);
    }

    public DeadRankException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    TenonException located(String message) {
        return new DeadRankException(message);
    }
}
