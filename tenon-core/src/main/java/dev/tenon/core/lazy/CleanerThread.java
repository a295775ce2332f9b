package dev.tenon.core.lazy;

import java.lang.ref.Cleaner;

/**
 * The process's one {@link Cleaner} for objects of Tenon, started on first use. Actions are short and do not throw.
 * Thread-safe.
 */
public final class CleanerThread {
    private static final Lazy<Cleaner> CLEANER = new Lazy<>() {
        @Override
        protected Cleaner make() {
            return Cleaner.create();
        }
    };

    private CleanerThread() {}

    /**
     * Runs an action some time after an object has become unreachable.
     *
     * @param action does not refer to the object
     */
    public static void register(Object object, Runnable action) {
        CLEANER.get().register(object, action);
    }
}
