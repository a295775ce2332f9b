package dev.tenon.core.options;

import dev.tenon.core.error.InputException;

/**
 * Says how a dim that may be padded is rounded up, so that fewer plans are made. A caller applies one where padding
 * cannot change results, as an encoder does whose model has a mask. The runtime never pads by itself. Immutable.
 *
 * @param multiple sizes are rounded up to a multiple of this; 1 leaves them as they are
 * @param steps at most so many sizes between a power of two and the next, so that padding stays below a share of the
 *     size; 0 for no such bound
 */
public record ShapePolicy(long multiple, int steps) {
    public ShapePolicy {
        if (multiple < 1) {
            throw InputException.of("multiple", "argument \"multiple\" is " + multiple + "; expected 1 or more");
        }
        if (steps < 0) {
            throw InputException.of("steps", "argument \"steps\" is " + steps + "; expected 0 or more");
        }
    }

    /** Leaves every size as it is. */
    public static ShapePolicy exact() {
        return new ShapePolicy(1, 0);
    }

    /**
     * Rounds sizes up to multiples of a number.
     *
     * @throws InputException when {@code multiple} is less than 1
     */
    public static ShapePolicy multiplesOf(long multiple) {
        return new ShapePolicy(multiple, 0);
    }

    /** Multiples of 8 up to 64, of 16 up to 128, of 32 up to 256, and so on: at most a quarter is padding. */
    public static ShapePolicy buckets() {
        return new ShapePolicy(8, 4);
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
        long octave = Long.highestOneBit(Math.max(1, size - 1));
        long step = steps == 0 ? multiple : Math.max(multiple, octave / steps);
        long over = size % step;
        return over == 0 ? size : size + Math.min(step - over, Math.max(size, limit) - size);
    }
}
