package dev.tenon.core.backend;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.core.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** An open device. Thread-safe. */
public interface Device extends AutoCloseable {
    DeviceInfo info();

    /**
     * A store for the constants of one model: each is prepared (uploaded, packed) once, whatever the number of plans.
     */
    Constants newConstants();

    /**
     * Makes a plan runnable. A compilation that fails holds nothing afterwards.
     *
     * @param options those of the model: precision, execution
     * @throws dev.tenon.core.error.UnsupportedException naming the node that the device cannot run
     */
    Program compile(Plan plan, Constants weights, CompileOptions options);

    /** What one session needs: an arena that grows to its largest plan, a stream. */
    State newState();

    /** The same elements in the device's own memory, where it has one; else the tensor itself. */
    default Tensor upload(Tensor tensor) {
        return tensor;
    }

    /** Zeros in the device's own memory, where it has one. */
    default Tensor zeros(TensorType type) {
        return Tensor.zeros(type);
    }

    /**
     * Whether the device has decided about all code that it exchanges for faster code while it runs, as far as runs up
     * to now have asked for it.
     */
    default boolean settled() {
        return true;
    }

    /** Whether runs leave the host's processors to others, which may {@link #practise} meanwhile. */
    default boolean leavesProcessors() {
        return false;
    }

    /**
     * Does what {@link #compile} does as far as that holds no memory, for nothing but the JVM, which makes code that is
     * run often faster.
     */
    default void practise(Plan plan, Constants weights, CompileOptions options) {}

    /** What is held now. */
    MemoryReport memory();

    /**
     * Gives everything back. Idempotent, as those of what it made; a close that failed may be called again and goes on
     * where it ended.
     */
    @Override
    void close();

    /**
     * The prepared constants of a model: each is held while a program that reads it is open. Closed with the model,
     * after its programs. Thread-safe.
     */
    interface Constants extends AutoCloseable {
        /**
         * Bytes held on the device, shared data counted once; data that is used where it lies (mapped from its file)
         * counts nothing.
         */
        long bytes();

        @Override
        void close();
    }

    /** A session's state. Used by one thread at a time. */
    interface State extends AutoCloseable {
        /** Bytes of the arena and the workspace. */
        long bytes();

        /**
         * From now on tells an observer what runs do, which then go step by step, recorded or not; null ends it.
         * Runs that are not observed cost nothing for it.
         */
        void observe(@Nullable RunObserver observer);

        @Override
        void close();
    }
}
