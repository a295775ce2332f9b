package dev.tenon.emulator;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.NativeException;
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

    /** A checked part of it, for copies. @throws NativeException when it does not fit */
    MemorySegment part(long offset, long length) {
        long start = address();
        if (offset < 0 || length < 0 || offset > bytes - length) {
            throw new NativeException("emulator: copy of " + length + " bytes at offset " + offset
                    + " of a device buffer of " + bytes + " bytes");
        }
        return EmulatorLibrary.memory(start, bytes).asSlice(offset, length);
    }

    static EmulatedBuffer of(DeviceBuffer buffer) {
        if (buffer instanceof EmulatedBuffer own) {
            return own;
        }
        throw new NativeException(
                "emulator: a buffer of another platform: " + buffer.getClass().getName());
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
