package dev.tenon.emulator;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A value made when it is first asked for. What it fails with is kept as well, and thrown each time as it was: a class initialiser would hide it in an error. Thread-safe. */
final class Kept<T> {
    private final Supplier<T> make;
    private @Nullable T value;
    private @Nullable RuntimeException failure;

    Kept(Supplier<T> make) {
        this.make = make;
    }

    /** The value. @throws RuntimeException the one that the supplier threw, without asking it again */
    synchronized T get() {
        if (failure != null) {
            throw failure;
        }
        T made = value;
        if (made == null) {
            try {
                made = make.get();
                value = made;
            } catch (RuntimeException e) {
                failure = e;
                throw e;
            }
        }
        return made;
    }
}
