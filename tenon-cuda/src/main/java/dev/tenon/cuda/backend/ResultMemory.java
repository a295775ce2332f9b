package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.cuda.port.GpuContext;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Memory of tensors on the device. What a tensor gives back is kept for the next of its size, within a bound: to the
 * driver an allocation and the end of one take 100 microseconds, for which the whole device waits. Kept memory is no
 * use's in the ledger, and goes back to the driver before anything is refused for want of it. Thread-safe.
 */
final class ResultMemory {
    private static final long MOST_BYTES = 1L << 30;
    private static final int SHARE = 16; // of the device's memory, or of the cap on it
    private static final int MOST_PIECES = 256;
    private static final long LARGE = 1 << 20;
    private static final int STEPS = 16; // of a power of two: a cache that grows finds its last size again

    private final GpuContext context;
    private final MemoryLedger ledger;
    private final long mostBytes;
    /** The longest unused first. */
    private final Deque<DeviceMemory> kept = new ArrayDeque<>();

    private long keptBytes;
    private boolean closed;

    ResultMemory(GpuContext context, MemoryLedger ledger) {
        this.context = context;
        this.ledger = ledger;
        long bytes = Math.min(ledger.report().limit(), context.device().memoryBytes());
        mostBytes = Math.min(MOST_BYTES, bytes / SHARE);
        ledger.reclaimBy(this::reclaim);
    }

    /** Memory of so many bytes or somewhat more. @throws OutOfMemoryException when the device or its cap is full */
    DeviceMemory take(long bytes) {
        long rounded = rounded(bytes);
        DeviceMemory again = again(rounded);
        if (again != null) {
            return again;
        }
        try {
            return allocate(rounded);
        } catch (OutOfMemoryException e) {
            if (rounded == bytes) {
                throw e;
            }
            return allocate(bytes);
        }
    }

    private DeviceMemory allocate(long bytes) {
        return DeviceMemory.allocate(context, ledger, bytes, MemoryLedger.Use.ACTIVATIONS, "a tensor on the device");
    }

    private synchronized @Nullable DeviceMemory again(long bytes) {
        for (Iterator<DeviceMemory> all = kept.descendingIterator(); all.hasNext(); ) {
            DeviceMemory one = all.next();
            if (one.bytes() == bytes) {
                all.remove();
                keptBytes -= bytes;
                one.reuse();
                return one;
            }
        }
        return null;
    }

    /** To a sixteenth of its power of two, of a large tensor. */
    private static long rounded(long bytes) {
        long step = Long.highestOneBit(Math.max(1, bytes)) / STEPS;
        return bytes < LARGE || bytes > Long.MAX_VALUE - step ? bytes : Math.ceilDiv(bytes, step) * step;
    }

    /** Takes memory back that nothing enqueued needs any more. Where it fails, the memory is still the caller's. */
    synchronized void giveBack(DeviceMemory memory) {
        if (closed || memory.bytes() > mostBytes || memory.bytes() == 0) {
            memory.close();
            return;
        }
        while (keptBytes + memory.bytes() > mostBytes || kept.size() >= MOST_PIECES) {
            DeviceMemory oldest = kept.getFirst();
            oldest.close();
            kept.removeFirst();
            keptBytes -= oldest.bytes();
        }
        memory.keep();
        kept.addLast(memory);
        keptBytes += memory.bytes();
    }

    /** Gives all that is kept to the driver; what fails stays. @return whether there was any */
    private synchronized boolean reclaim() {
        boolean any = !kept.isEmpty();
        Closing closing = new Closing();
        closing.each(kept, memory -> {
            memory.close();
            keptBytes -= memory.bytes();
        });
        closing.end();
        return any;
    }

    /** Keeps nothing from now on. May be called again where it failed. */
    synchronized void close() {
        closed = true;
        reclaim();
    }
}
