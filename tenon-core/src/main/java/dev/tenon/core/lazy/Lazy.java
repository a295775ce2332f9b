package dev.tenon.core.lazy;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes a value on first use and keeps it. A failure is thrown to the caller and not kept: the next call tries again.
 *
 * <p>Thread-safe; one thread makes the value while the others wait.
 *
 * @param <T> the type of the value
 */
public final class Lazy<T> {
    private final Supplier<? extends T> make;
    private volatile @Nullable T value;

    /**
     * Holds what the supplier will make.
     *
     * @param make makes the value; never returns null
     */
    public Lazy(Supplier<? extends T> make) {
        this.make = make;
    }

    /** Returns the value, made now if it has not been made. Throws what the supplier throws. */
    public T get() {
        T known = value;
        return known != null ? known : made();
    }

    private synchronized T made() {
        T known = value;
        if (known == null) {
            known = Objects.requireNonNull(make.get());
            value = known;
        }
        return known;
    }
}
