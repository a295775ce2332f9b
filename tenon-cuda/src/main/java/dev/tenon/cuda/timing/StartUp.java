package dev.tenon.cuda.timing;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/** What this process has spent so far on getting ready: opening devices, and loading and compiling kernels. Threads that do so at the same time are added up. Thread-safe. */
public final class StartUp {
    private static final LongAdder OPENING = new LongAdder();
    private static final LongAdder COMPILING = new LongAdder();
    private static final LongAdder COMPILED = new LongAdder();
    private static final LongAdder LOADING = new LongAdder();
    private static final LongAdder LOADED = new LongAdder();

    /**
     * Figures.
     *
     * @param openMillis the driver's library, its initialisation and contexts
     * @param loaded modules of kernels that were made ready
     * @param loadMillis finding them in the cache, and the driver's share; without what is compiled on the way
     * @param compiled modules that no cache had
     * @param compileMillis compiling those
     */
    public record Spent(double openMillis, long loaded, double loadMillis, long compiled, double compileMillis) {
        /** What came to this since an earlier look. */
        public Spent since(Spent before) {
            return new Spent(
                    openMillis - before.openMillis,
                    loaded - before.loaded,
                    loadMillis - before.loadMillis,
                    compiled - before.compiled,
                    compileMillis - before.compileMillis);
        }
    }

    private StartUp() {}

    /** So far. */
    public static Spent spent() {
        return new Spent(
                OPENING.sum() / 1e6,
                LOADED.sum(),
                Math.max(0, LOADING.sum() - COMPILING.sum()) / 1e6,
                COMPILED.sum(),
                COMPILING.sum() / 1e6);
    }

    /** Does the work, as part of opening a device. */
    public static <T> T opening(Supplier<T> work) {
        return timed(OPENING, work);
    }

    /** Does the work, within {@link #loading}, as compiling one module. */
    public static <T> T compiling(Supplier<T> work) {
        COMPILED.increment();
        return timed(COMPILING, work);
    }

    /** Does the work, as making one module ready. */
    public static <T> T loading(Supplier<T> work) {
        LOADED.increment();
        return timed(LOADING, work);
    }

    private static <T> T timed(LongAdder sum, Supplier<T> work) {
        long start = System.nanoTime();
        try {
            return work.get();
        } finally {
            sum.add(System.nanoTime() - start);
        }
    }
}
