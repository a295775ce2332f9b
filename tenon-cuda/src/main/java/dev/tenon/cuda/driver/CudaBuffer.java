package dev.tenon.cuda.driver;

import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.nativelib.cuda.CuMemory;

/** Memory of the device. */
final class CudaBuffer extends Owned implements DeviceBuffer {
    private final long address;
    private final long bytes;

    CudaBuffer(CudaContext context, long address, long bytes) {
        super(context);
        this.address = address;
        this.bytes = bytes;
        context.holds(bytes);
    }

    @Override
    public long address() {
        requireOpen();
        return address;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    /**
     * The address of a range.
     *
     * @throws InputException when the range is not within the buffer, or the buffer of another platform
     */
    static long range(DeviceBuffer buffer, long offset, long length, String call) {
        if (!(buffer instanceof CudaBuffer)) {
            throw new InputException(call + ": the buffer is of another platform: " + buffer);
        }
        buffer.requireWithin(offset, length, call);
        return buffer.address() + offset;
    }

    @Override
    String kind() {
        return "buffer of " + bytes + " bytes";
    }

    @Override
    void beforeDestroy() {
        context.holds(-bytes);
    }

    @Override
    void destroy() {
        primary.check(CuMemory.cuMemFree(address), "cuMemFree(bytes=%d)", bytes);
    }
}
