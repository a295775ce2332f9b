package dev.tenon.core.options;

import dev.tenon.core.error.InputException;

/**
 * How a dim that may be padded is rounded up, so that fewer plans are made. Only code that knows that padding is safe
 * applies one: an encoder whose model has a mask does; the engine never pads by itself.
 *
 * @param multiple sizes are rounded up to a multiple of this; 1 leaves them as they are
 * @param steps at most so many sizes between a power of two and the next, so that padding stays below a share of the
 *     size; 0 for no such bound
 */
public record ShapePolicy(long multiple, int steps) {
    public ShapePolicy {
        if (multiple < 1) {
            throw new InputException("a bucket is 1 or larger, got " + multiple);
        }
        if (steps < 0) {
            throw new InputException("the number of sizes in an octave is 0 or larger, got " + steps);
        }
    }

    public static ShapePolicy exact() {
        return new ShapePolicy(1, 0);
    }

    public static ShapePolicy multiplesOf(long multiple) {
        return new ShapePolicy(multiple, 0);
    }

    /** Multiples of 8 up to 64, of 16 up to 128, of 32 up to 256, and so on: padding is at most a quarter of the size. */
    public static ShapePolicy buckets() {
        return new ShapePolicy(8, 4);
    }

    /** The size to pad to, but no more than {@code limit} unless the size itself is. */
    public long round(long size, long limit) {
        long octave = Long.highestOneBit(Math.max(1, size - 1));
        long step = steps == 0 ? multiple : Math.max(multiple, octave / steps);
        return Math.max(size, Math.min(limit, Math.ceilDiv(size, step) * step));
    }
}
