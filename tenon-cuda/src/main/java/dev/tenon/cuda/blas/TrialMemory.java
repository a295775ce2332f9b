package dev.tenon.cuda.blas;

import dev.tenon.cuda.port.DeviceBuffer;
import org.jspecify.annotations.Nullable;

/** Lends device memory for a moment, within the limits of the books that its maker keeps. Thread-safe. */
@FunctionalInterface
public interface TrialMemory {
    /** So many bytes, until it is closed; null where they do not fit. */
    @Nullable
    Loan borrow(long bytes);

    /** Borrowed memory. */
    interface Loan extends AutoCloseable {
        DeviceBuffer buffer();

        /** Gives it back; nothing enqueued may need it any more. */
        @Override
        void close();
    }
}
