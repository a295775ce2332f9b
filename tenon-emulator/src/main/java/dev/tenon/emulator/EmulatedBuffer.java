package dev.tenon.emulator;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.nativelib.emulated.EmulatorLibrary;
import java.lang.foreign.MemorySegment;

/** Device memory. Thread-safe. */
final class EmulatedBuffer implements DeviceBuffer {
    private final EmulatedContext context;
    private final long address;
    private final long bytes;
    private boolean closed;

    EmulatedBuffer(EmulatedContext context, long bytes) {
        this.context = context;
        this.bytes = bytes;
        address = context.shared().allocate(bytes);
    }

    @Override
    public synchronized long address() {
        if (closed) {
            throw new ClosedException("the device buffer of " + bytes + " bytes is closed");
        }
        return address;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    /** A part of it, for work whose range has been looked at. */
    MemorySegment part(long offset, long length) {
        return EmulatorLibrary.memory(address(), bytes).asSlice(offset, length);
    }

    /**
     * The buffer as ours, of which a call wants a range.
     *
     * @throws InputException when that is not within it, or the buffer is of another platform
     */
    static EmulatedBuffer of(DeviceBuffer buffer, long offset, long length, String call) {
        if (!(buffer instanceof EmulatedBuffer own)) {
            throw new InputException(call + ": the buffer is of another platform: " + buffer);
        }
        own.requireWithin(offset, length, call);
        own.address(); // not closed
        return own;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            context.shared().free(address, bytes);
            context.forget(this);
        }
    }
}
