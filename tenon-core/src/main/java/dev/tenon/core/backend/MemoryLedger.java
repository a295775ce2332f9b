package dev.tenon.core.backend;

import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.report.MemoryReport;
import java.util.EnumMap;
import java.util.Map;

/**
 * What a device holds, and the cap on it: bytes are entered before they are allocated, so a request past the cap
 * allocates nothing. Thread-safe.
 */
public final class MemoryLedger {
    /** What memory is for. */
    public enum Use {
        WEIGHTS,
        ACTIVATIONS,
        WORKSPACE,
        /** Not on the device: not bound by the cap. */
        HOST
    }

    private final String device;
    private final long limit;
    private final Map<Use, Long> held = new EnumMap<>(Use.class);

    /** @param device as messages name it */
    public MemoryLedger(String device, long limit) {
        this.device = device;
        this.limit = limit;
        for (Use use : Use.values()) {
            held.put(use, 0L);
        }
    }

    /**
     * Enters bytes that are about to be allocated.
     *
     * @throws OutOfMemoryException past the cap, naming what is held; nothing is entered then
     */
    public synchronized void enter(Use use, long bytes, String purpose) {
        long free = limit - report().total();
        if (use != Use.HOST && bytes > free) {
            throw new OutOfMemoryException(
                    device + ": " + bytes + " bytes asked for " + purpose + ", the limit is " + limit + " and " + free
                            + " are free; held: " + holders(),
                    bytes);
        }
        held.merge(use, bytes, Long::sum);
    }

    public synchronized void release(Use use, long bytes) {
        held.merge(use, -bytes, Long::sum);
    }

    /** The holders in words, for messages. */
    public String holders() {
        MemoryReport now = report();
        return "weights " + now.weights() + ", activations " + now.activations() + ", workspace " + now.workspace();
    }

    public synchronized MemoryReport report() {
        return new MemoryReport(of(Use.WEIGHTS), of(Use.ACTIVATIONS), of(Use.WORKSPACE), of(Use.HOST), limit);
    }

    private long of(Use use) {
        return held.getOrDefault(use, 0L);
    }
}
