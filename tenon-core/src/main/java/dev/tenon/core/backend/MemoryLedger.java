package dev.tenon.core.backend;

import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.report.MemoryReport;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

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
    /** On the device, and no use's. */
    private long kept;

    private BooleanSupplier reclaim = () -> false;

    /** @param device as messages name it */
    public MemoryLedger(String device, long limit) {
        this.device = device;
        this.limit = limit;
        for (Use use : Use.values()) {
            held.put(use, 0L);
        }
    }

    /**
     * How memory that is kept for later is given back.
     *
     * @param reclaim gives all of it back, dropped here; returns whether there was any. Called without a lock
     */
    public synchronized void reclaimBy(BooleanSupplier reclaim) {
        this.reclaim = reclaim;
    }

    /** Has kept memory given back. @return whether there was any */
    public boolean reclaim() {
        BooleanSupplier now;
        synchronized (this) {
            now = reclaim;
        }
        return now.getAsBoolean();
    }

    /**
     * Enters bytes that are about to be allocated; kept memory is given back where the cap leaves no room for both.
     *
     * @throws OutOfMemoryException past the cap, naming what is held; nothing is entered then
     */
    public void enter(Use use, long bytes, String purpose) {
        if (!entered(use, bytes)) {
            reclaim();
            if (!entered(use, bytes)) {
                throw refused(bytes, purpose);
            }
        }
    }

    private synchronized boolean entered(Use use, long bytes) {
        if (use != Use.HOST && bytes > limit - report().total() - kept) {
            return false;
        }
        held.merge(use, bytes, Long::sum);
        return true;
    }

    private synchronized OutOfMemoryException refused(long bytes, String purpose) {
        return new OutOfMemoryException(
                device + ": " + bytes + " bytes asked for " + purpose + ", the limit is " + limit + " and "
                        + (limit - report().total() - kept) + " are free; held: " + holders(),
                bytes);
    }

    /** What a use held is kept for later. */
    public synchronized void keep(Use use, long bytes) {
        release(use, bytes);
        kept += bytes;
    }

    /** A use holds again what was kept. */
    public synchronized void reuse(Use use, long bytes) {
        kept -= bytes;
        held.merge(use, bytes, Long::sum);
    }

    /** What was kept is given back. */
    public synchronized void drop(long bytes) {
        kept -= bytes;
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
