package dev.tenon.cuda.tuning;

import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import org.jspecify.annotations.Nullable;

/** Lends device memory for a moment, within the limits of the books that its maker keeps. Thread-safe. */
@FunctionalInterface
public interface TrialMemory {
    /** So many bytes, until it is closed; null where they do not fit. */
    @Nullable
    Loan borrow(long bytes);

    /** Allocates on a device that keeps no books. */
    static TrialMemory of(GpuContext context) {
        return bytes -> {
            DeviceBuffer memory = context.allocate(bytes);
            return new Loan() {
                @Override
                public DeviceBuffer buffer() {
                    return memory;
                }

                @Override
                public void close() {
                    memory.close();
                }
            };
        };
    }

    /** Borrowed memory. */
    interface Loan extends AutoCloseable {
        DeviceBuffer buffer();

        /** Gives it back; nothing enqueued may need it any more. */
        @Override
        void close();
    }
}
