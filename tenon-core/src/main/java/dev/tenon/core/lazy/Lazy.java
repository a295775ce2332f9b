package dev.tenon.core.lazy;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes a value on first use and keeps it. A failure is thrown to the caller and not kept: the next call tries again.
 *
 * <p>A subclass and not a lambda says how: linking a lambda takes memory, and in a static initialiser, where these
 * mostly stand, the failure would break the class for good.
 *
 * <p>Thread-safe; one thread makes the value while the others wait.
 *
 * @param <T> the type of the value
 */
public abstract class Lazy<T> {
    private volatile @Nullable T value;

    /** Makes the value; called under this object's lock, again after each failure. */
    protected abstract T make();

    /** Returns the value, made now if it has not been made. Throws what {@link #make} throws. */
    public final T get() {
        T known = value;
        return known != null ? known : made();
    }

    private synchronized T made() {
        T known = value;
        if (known == null) {
            known = Objects.requireNonNull(make());
            value = known;
        }
        return known;
    }
}
