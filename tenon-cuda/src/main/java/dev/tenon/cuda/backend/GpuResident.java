package dev.tenon.cuda.backend;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.runtime.spi.Resident;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A result that stays in device memory, complete before anybody sees it. Whoever enqueues work that reads it holds it until that work is done: closed meanwhile, it is freed after the last hold. Thread-safe.
 */
final class GpuResident implements Resident {
    private final GpuContext context;
    private final DeviceMemory memory;
    /** Those of the device that are open, this among them. */
    private final Set<GpuResident> open;

    private int holds;
    private boolean closed;

    GpuResident(GpuContext context, DeviceMemory memory, Set<GpuResident> open) {
        this.context = context;
        this.memory = memory;
        this.open = open;
        open.add(this);
    }

    /** Null for memory of another device. */
    static @Nullable GpuResident of(@Nullable Resident resident, GpuContext context) {
        return resident instanceof GpuResident own && own.context.equals(context) ? own : null;
    }

    /** Keeps the memory until {@link #release}. @throws ClosedException after close */
    synchronized DeviceBuffer hold() {
        if (closed) {
            throw new ClosedException("the tensor's device memory was given back: it was closed");
        }
        holds++;
        return memory.buffer();
    }

    void release() {
        synchronized (this) {
            holds--;
        }
        freeUnused();
    }

    @Override
    public void read(MemorySegment to) {
        DeviceBuffer buffer = hold();
        try (GpuStream stream = context.newStream()) {
            stream.copyToHost(buffer, 0, to);
            stream.synchronize();
        } finally {
            release();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        freeUnused();
    }

    private void freeUnused() {
        synchronized (this) {
            if (!closed || holds > 0) {
                return;
            }
        }
        memory.close(); // idempotent
        open.remove(this);
    }
}
