package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.tuning.Tuner;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** CUDA's libraries on an open device, and what finds their fastest algorithms. Thread-safe. */
record GpuLibraries(Tuner tuner, Blas blas, Dnn dnn) implements AutoCloseable {
    /** Algorithms are timed in no more than this part of the memory that the limit leaves. */
    private static final int TRIAL_SHARE = 4;

    /** None, and why. */
    static GpuLibraries none(String why) {
        return new GpuLibraries(Tuner.off(), Blas.none(why), Dnn.none(why));
    }

    /** @param idle whether the device has nothing to do, so that algorithms may be timed */
    static GpuLibraries of(GpuContext context, MemoryLedger ledger, long dnnWorkspaceBytes, BooleanSupplier idle) {
        Tuner tuner = Tuner.of(context, bytes -> forTrials(context, ledger, bytes), idle);
        return new GpuLibraries(tuner, Blas.of(context, tuner), Dnn.of(context, tuner, dnnWorkspaceBytes));
    }

    /** Memory for a moment; null where it does not fit. */
    private static @Nullable DeviceMemory forTrials(GpuContext context, MemoryLedger ledger, long bytes) {
        MemoryReport books = ledger.report();
        if (bytes > (books.limit() - books.total()) / TRIAL_SHARE) {
            return null; // runs come first
        }
        try {
            return DeviceMemory.allocate(context, ledger, bytes, MemoryLedger.Use.WORKSPACE, "timing algorithms");
        } catch (OutOfMemoryException e) {
            return null;
        }
    }

    @Override
    public void close() {
        Closing closing = new Closing();
        closing.step(tuner::close);
        closing.step(blas::close);
        closing.step(dnn::close);
        closing.end();
    }
}
