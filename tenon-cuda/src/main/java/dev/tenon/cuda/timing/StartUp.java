package dev.tenon.cuda.timing;

import java.util.function.Supplier;

/**
 * What this process has spent so far on getting ready: opening devices, loading and compiling kernels, and asking
 * libraries for plans. Time that several threads spend on the same at once counts once. Thread-safe.
 */
public final class StartUp {
    private static final Busy OPENING = new Busy();
    private static final Busy COMPILING = new Busy();
    private static final Busy LOADING = new Busy();
    private static final Busy ASKING = new Busy();

    /** How often something was done, and for how long at least one thread was at it. */
    private static final class Busy {
        private int threads;
        private long since;
        private long nanos;
        private long times;

        synchronized void begin() {
            times++;
            if (threads++ == 0) {
                since = System.nanoTime();
            }
        }

        synchronized void end() {
            if (--threads == 0) {
                nanos += System.nanoTime() - since;
            }
        }

        synchronized long nanos() {
            return nanos + (threads == 0 ? 0 : System.nanoTime() - since);
        }

        synchronized long times() {
            return times;
        }
    }

    /**
     * Figures.
     *
     * @param openMillis the driver's library, its initialisation and contexts
     * @param loaded modules of kernels that were made ready
     * @param loadMillis finding them in the cache, and the driver's share; without the time in which anything is
     *     compiled
     * @param compiled modules that no cache had
     * @param compileMillis compiling those
     * @param asked plans of libraries that lowering asked for
     * @param askMillis how long it waited for them
     */
    public record Spent(
            double openMillis,
            long loaded,
            double loadMillis,
            long compiled,
            double compileMillis,
            long asked,
            double askMillis) {
        /** Nothing yet. */
        public static final Spent NOTHING = new Spent(0, 0, 0, 0, 0, 0, 0);

        /** What came to this since an earlier look. */
        public Spent since(Spent before) {
            return new Spent(
                    openMillis - before.openMillis,
                    loaded - before.loaded,
                    loadMillis - before.loadMillis,
                    compiled - before.compiled,
                    compileMillis - before.compileMillis,
                    asked - before.asked,
                    askMillis - before.askMillis);
        }
    }

    private StartUp() {}

    /** So far. */
    public static Spent spent() {
        return new Spent(
                OPENING.nanos() / 1e6,
                LOADING.times(),
                Math.max(0, LOADING.nanos() - COMPILING.nanos()) / 1e6,
                COMPILING.times(),
                COMPILING.nanos() / 1e6,
                ASKING.times(),
                ASKING.nanos() / 1e6);
    }

    /** Does the work, as part of opening a device. */
    public static <T> T opening(Supplier<T> work) {
        return timed(OPENING, work);
    }

    /** Does the work, within {@link #loading}, as compiling one module. */
    public static <T> T compiling(Supplier<T> work) {
        return timed(COMPILING, work);
    }

    /** Does the work, as making one module ready. */
    public static <T> T loading(Supplier<T> work) {
        return timed(LOADING, work);
    }

    /** Does the work, as asking a library for one plan. */
    public static <T> T asking(Supplier<T> work) {
        return timed(ASKING, work);
    }

    private static <T> T timed(Busy busy, Supplier<T> work) {
        busy.begin();
        try {
            return work.get();
        } finally {
            busy.end();
        }
    }
}
