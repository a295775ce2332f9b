package dev.tenon.emulator;

import dev.tenon.cuda.port.PinnedBuffer;
import dev.tenon.nativelib.emulated.EmulatorLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Host memory that copies read and write late, and that kernels know by its address. Thread-safe. */
final class EmulatedPinned implements PinnedBuffer {
    private final EmulatedContext context;
    private final Arena arena = Arena.ofShared();
    private final long address;
    private final MemorySegment segment;

    EmulatedPinned(EmulatedContext context, long bytes) {
        this.context = context;
        address = context.shared().allocateHost(Math.max(bytes, 1));
        segment = EmulatorLibrary.memory(address, bytes, arena);
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    boolean holds(MemorySegment part) {
        return part.isNative()
                && part.address() >= segment.address()
                && part.address() + part.byteSize() <= segment.address() + segment.byteSize();
    }

    @Override
    public void close() {
        if (context.forget(this)) {
            arena.close();
            context.shared().freeHost(address);
        }
    }
}
