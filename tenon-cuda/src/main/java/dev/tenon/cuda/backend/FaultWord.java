package dev.tenon.cuda.backend;

import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where kernels report a value that has no result. The word lies in the host's memory, to which a kernel writes only
 * when there is a fault, so that a run reads it without a copy. Read when no work of the session is under way.
 */
final class FaultWord implements AutoCloseable {
    /** {step + 1 or 0, unused, value}. */
    private static final int BYTES = 16;

    private final PinnedBuffer memory;

    FaultWord(GpuContext context) {
        memory = context.allocatePinned(BYTES);
    }

    /** The address that kernels get: that of the host, which the device has in common. */
    long address() {
        return memory.segment().address();
    }

    void clear() {
        memory.segment().fill((byte) 0);
    }

    /** @throws dev.tenon.core.error.DataException for a fault that a kernel of that program reported */
    void check(GpuProgram program) {
        MemorySegment word = memory.segment();
        int reporter = word.get(ValueLayout.JAVA_INT, 0);
        if (reporter != 0) {
            throw program.fault(reporter - 1, word.get(ValueLayout.JAVA_LONG, Long.BYTES));
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
