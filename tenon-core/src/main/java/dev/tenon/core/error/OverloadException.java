package dev.tenon.core.error;

/** Reports a request that was refused because too many wait: it has done nothing, and may be made again later. */
public final class OverloadException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final int waiting;

    /** @param waiting how many requests wait */
    public OverloadException(String message, int waiting) {
        super(message);
        this.waiting = waiting;
    }

    /** Returns how many requests waited. */
    public int waiting() {
        return waiting;
    }

    @Override
    TenonException located(String message) {
        return new OverloadException(message, waiting);
    }
}
