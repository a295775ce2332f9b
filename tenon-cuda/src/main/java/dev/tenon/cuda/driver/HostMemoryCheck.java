package dev.tenon.cuda.driver;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Checks of host memory before a native call sees it. */
final class HostMemoryCheck {
    private HostMemoryCheck() {}

    /** @throws InputException when this thread may not use the memory in that way */
    static void check(MemorySegment memory, boolean written, String call) {
        if (!memory.scope().isAlive()) {
            throw new ClosedException(call + ": the host memory's arena is closed");
        }
        if (!memory.isAccessibleBy(Thread.currentThread())) {
            throw new InputException(call + ": the host memory is confined to another thread");
        }
        if (written && memory.isReadOnly()) {
            throw new InputException(call + ": the host memory is read-only");
        }
    }

    /** Memory of the heap where the driver can read it. */
    static MemorySegment copy(MemorySegment heap, Arena arena) {
        return arena.allocate(heap.byteSize(), 16).copyFrom(heap);
    }
}
