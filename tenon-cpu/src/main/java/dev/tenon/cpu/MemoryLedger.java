package dev.tenon.cpu;

import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.runtime.MemoryReport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/** What the device holds, and the cap on it: bytes are entered before they are allocated, so a request past the cap allocates nothing. Thread-safe. */
final class MemoryLedger {
    enum Use {
        WEIGHTS,
        ACTIVATIONS,
        WORKSPACE
    }

    private final long limit;
    private final Map<Use, Long> held = new EnumMap<>(Use.class);

    MemoryLedger(long limit) {
        this.limit = limit;
        for (Use use : Use.values()) {
            held.put(use, 0L);
        }
    }

    /** Memory of the arena, 64-byte aligned and zero, entered under {@code use}. @throws OutOfMemoryException past the cap, or when the JVM has none left; nothing is entered then */
    MemorySegment allocate(Arena arena, long bytes, Use use, String purpose) {
        enter(use, bytes, purpose);
        try {
            return arena.allocate(bytes, 64);
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            release(use, bytes);
            throw new OutOfMemoryException(
                    "cpu: no " + bytes + " bytes of host memory for " + purpose + "; Tenon holds " + holders()
                            + " (the JVM's own limit on memory outside the heap is -XX:MaxDirectMemorySize)",
                    e);
        }
    }

    private synchronized void enter(Use use, long bytes, String purpose) {
        long free = limit - report().total();
        if (bytes > free) {
            throw new OutOfMemoryException("cpu: " + bytes + " bytes asked for " + purpose + ", the limit is " + limit
                    + " and " + free + " are free; held: " + holders());
        }
        held.merge(use, bytes, Long::sum);
    }

    synchronized void release(Use use, long bytes) {
        held.merge(use, -bytes, Long::sum);
    }

    private String holders() {
        MemoryReport now = report();
        return "weights " + now.weights() + ", activations " + now.activations() + ", workspace " + now.workspace();
    }

    synchronized MemoryReport report() {
        return new MemoryReport(of(Use.WEIGHTS), of(Use.ACTIVATIONS), of(Use.WORKSPACE), limit);
    }

    private long of(Use use) {
        return held.getOrDefault(use, 0L);
    }
}
