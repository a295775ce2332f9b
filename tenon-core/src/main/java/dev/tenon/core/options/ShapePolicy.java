package dev.tenon.core.options;

import dev.tenon.core.error.InputException;

/**
 * Says how a dim that may be padded is rounded up, so that fewer plans are made. A caller applies one where padding
 * cannot change results, as an encoder does whose model has a mask. The runtime never pads by itself. Immutable.
 *
 * @param multiple sizes are rounded up to a multiple of this; 1 leaves them as they are
 */
public record ShapePolicy(long multiple) {
    public ShapePolicy {
        if (multiple < 1) {
            throw InputException.of("multiple", "argument \"multiple\" is " + multiple + "; expected 1 or more");
        }
    }

    /** Leaves every size as it is. */
    public static ShapePolicy exact() {
        return new ShapePolicy(1);
    }

    /**
     * Rounds sizes up to multiples of a number.
     *
     * @throws InputException when {@code multiple} is less than 1
     */
    public static ShapePolicy multiplesOf(long multiple) {
        return new ShapePolicy(multiple);
    }

    /**
     * Returns the size to pad to: at most {@code limit}, and at least {@code size}.
     *
     * @throws InputException when {@code size} is negative
     */
    public long round(long size, long limit) {
        if (size < 0) {
            throw InputException.of("size", "argument \"size\" is " + size + "; expected 0 or more");
        }
        long over = size % multiple;
        return over == 0 ? size : size + Math.min(multiple - over, Math.max(size, limit) - size);
    }
}
