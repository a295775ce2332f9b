package dev.tenon.cuda.collective;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import org.jspecify.annotations.Nullable;

/** Device memory that host memory passes through. Grows, never shrinks. Not thread-safe. */
final class DeviceStaging implements AutoCloseable {
    private final GpuContext context;
    private @Nullable DeviceBuffer memory;

    DeviceStaging(GpuContext context) {
        this.context = context;
    }

    /**
     * Room for elements; nothing may still use what was handed out before.
     *
     * @throws dev.tenon.core.error.OutOfMemoryException when the device has not enough
     */
    DeviceSlice of(long length, DType dtype) {
        long bytes = dtype.bytesFor(length);
        DeviceBuffer room = memory;
        if (room == null || room.bytes() < bytes) {
            close();
            room = context.allocate(Math.max(bytes, dtype.bytes()));
            memory = room;
        }
        return new DeviceSlice(room, 0, length, dtype);
    }

    @Override
    public void close() {
        if (memory != null) {
            memory.close();
            memory = null;
        }
    }
}
