package dev.tenon.emulator;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes a value on first use. An exception is kept as well and thrown each time as it was, without another attempt; an
 * error, as of an exhausted heap, is not kept. Thread-safe.
 *
 * @param <T> the type of the value
 */
abstract class Kept<T> {
    private @Nullable T value;
    private @Nullable RuntimeException failure;

    /** Makes the value; called under this object's lock. */
    abstract T make();

    /** Returns the value. Throws the exception that {@link #make} threw. */
    final synchronized T get() {
        if (failure != null) {
            throw failure;
        }
        T made = value;
        if (made == null) {
            try {
                made = Objects.requireNonNull(make());
                value = made;
            } catch (RuntimeException e) {
                failure = e;
                throw e;
            }
        }
        return made;
    }
}
