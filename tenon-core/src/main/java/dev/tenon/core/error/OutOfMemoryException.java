package dev.tenon.core.error;

import java.util.OptionalLong;

/**
 * Reports memory that could not be had: the message names the bytes asked for, the limit and the largest holders. The
 * device stays usable.
 */
public final class OutOfMemoryException extends TenonException {
    private static final long serialVersionUID = 1L;
    private static final long UNKNOWN = -1;

    private final long bytes;

    public OutOfMemoryException(String message) {
        super(message);
        this.bytes = UNKNOWN;
    }

    public OutOfMemoryException(String message, Throwable cause) {
        super(message, cause);
        this.bytes = cause instanceof OutOfMemoryException inner ? inner.bytes : UNKNOWN;
    }

    /**
     * Reports an allocation that failed.
     *
     * @param bytes how many were asked for
     */
    public OutOfMemoryException(String message, long bytes) {
        super(message);
        this.bytes = bytes;
    }

    /**
     * Reports an allocation that failed.
     *
     * @param bytes how many were asked for
     */
    public OutOfMemoryException(String message, long bytes, Throwable cause) {
        super(message, cause);
        this.bytes = bytes;
    }

    /** Returns the bytes that were asked for in one piece; empty where their number is not known or is past 2^63. */
    public OptionalLong bytes() {
        return bytes < 0 ? OptionalLong.empty() : OptionalLong.of(bytes);
    }

    @Override
    TenonException located(String message) {
        return new OutOfMemoryException(message, bytes);
    }
}
