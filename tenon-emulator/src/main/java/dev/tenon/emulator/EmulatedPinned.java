package dev.tenon.emulator;

import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Host memory that copies read and write late. Thread-safe. */
final class EmulatedPinned implements PinnedBuffer {
    private static final int ALIGNMENT = 256;

    private final EmulatedContext context;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    EmulatedPinned(EmulatedContext context, long bytes) {
        this.context = context;
        segment = arena.allocate(Math.max(bytes, 1), ALIGNMENT).asSlice(0, bytes);
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
        }
    }
}
