package dev.tenon.core.options;

import dev.tenon.core.error.InputException;

/**
 * How a dim that may be padded is rounded up, so that fewer plans are made. Only whoever knows that padding is safe applies one: an encoder whose model has a mask does; the runtime never pads by itself.
 *
 * @param multiple sizes are rounded up to a multiple of this; 1 leaves them as they are
 */
public record ShapePolicy(long multiple) {
    public ShapePolicy {
        if (multiple < 1) {
            throw new InputException("a bucket is 1 or larger, got " + multiple);
        }
    }

    public static ShapePolicy exact() {
        return new ShapePolicy(1);
    }

    public static ShapePolicy multiplesOf(long multiple) {
        return new ShapePolicy(multiple);
    }

    /** The size to pad to, but no more than {@code limit} unless the size itself is. */
    public long round(long size, long limit) {
        return Math.max(size, Math.min(limit, Math.ceilDiv(size, multiple) * multiple));
    }
}
