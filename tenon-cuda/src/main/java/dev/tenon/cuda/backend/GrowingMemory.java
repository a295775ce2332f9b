package dev.tenon.cuda.backend;

import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One stretch of device memory of a session that only grows. Used by one thread at a time. */
final class GrowingMemory implements AutoCloseable {
    private final GpuContext context;
    private final MemoryLedger ledger;
    private final MemoryLedger.Use use;
    private final String purpose;
    private @Nullable DeviceMemory memory;

    GrowingMemory(GpuContext context, MemoryLedger ledger, MemoryLedger.Use use, String purpose) {
        this.context = context;
        this.ledger = ledger;
        this.use = use;
        this.purpose = purpose;
    }

    /**
     * Whether it had to be replaced; what it held is gone then, and nothing enqueued may need it. The old memory is
     * freed first, so that the peak is the larger of the two and not their sum.
     */
    boolean grow(long bytes) {
        if (bytes <= bytes()) {
            return false;
        }
        long before = bytes();
        close();
        memory = before == 0 ? allocate(bytes) : roomy(bytes, before);
        return true;
    }

    /** What has grown once grows again: a quarter more than before at least, where that is to be had. */
    private DeviceMemory roomy(long bytes, long before) {
        long wanted = Math.max(bytes, before + before / 4);
        try {
            return allocate(wanted);
        } catch (OutOfMemoryException e) {
            if (wanted == bytes) {
                throw e;
            }
            return allocate(bytes);
        }
    }

    private DeviceMemory allocate(long bytes) {
        return DeviceMemory.allocate(context, ledger, bytes, use, purpose);
    }

    long bytes() {
        return memory == null ? 0 : memory.bytes();
    }

    /** 0 where there is no memory. */
    long address() {
        return memory == null ? 0 : memory.buffer().address();
    }

    /** @throws NullPointerException where there is none */
    DeviceBuffer buffer() {
        return Objects.requireNonNull(memory).buffer();
    }

    @Override
    public void close() {
        if (memory != null) {
            memory.close();
            memory = null;
        }
    }
}
