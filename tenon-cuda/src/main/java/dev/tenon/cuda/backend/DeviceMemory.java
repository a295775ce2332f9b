package dev.tenon.cuda.backend;

import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.tuning.TrialMemory;

/** Device memory that is entered in the ledger for as long as it lives. Thread-safe. */
final class DeviceMemory implements TrialMemory.Loan {
    private final MemoryLedger ledger;
    private final MemoryLedger.Use use;
    private final DeviceBuffer buffer;
    private boolean kept;
    private boolean closed;

    /** Allocates last, so that nothing that could fail comes between the memory and its owner. */
    private DeviceMemory(MemoryLedger ledger, MemoryLedger.Use use, GpuContext context, long bytes) {
        this.ledger = ledger;
        this.use = use;
        this.buffer = context.allocate(bytes);
    }

    /**
     * @throws OutOfMemoryException past the cap or when the device has none left, naming the bytes asked for and what
     *     is held; nothing is held then
     */
    static DeviceMemory allocate(
            GpuContext context, MemoryLedger ledger, long bytes, MemoryLedger.Use use, String purpose) {
        ledger.enter(use, bytes, purpose);
        try {
            return allocated(context, ledger, bytes, use);
        } catch (OutOfMemoryException e) {
            ledger.release(use, bytes);
            throw new OutOfMemoryException(
                    e.getMessage() + " (for " + purpose + "; Tenon holds " + ledger.holders() + ")", e);
        } catch (RuntimeException | Error e) {
            ledger.release(use, bytes);
            throw e;
        }
    }

    private static DeviceMemory allocated(GpuContext context, MemoryLedger ledger, long bytes, MemoryLedger.Use use) {
        try {
            return new DeviceMemory(ledger, use, context, bytes);
        } catch (OutOfMemoryException e) {
            if (!ledger.reclaim()) {
                throw e;
            }
            return new DeviceMemory(ledger, use, context, bytes);
        }
    }

    /** From now on no use holds it, until {@link #reuse} or the end. */
    synchronized void keep() {
        ledger.keep(use, buffer.bytes());
        kept = true;
    }

    synchronized void reuse() {
        ledger.reuse(use, buffer.bytes());
        kept = false;
    }

    @Override
    public DeviceBuffer buffer() {
        return buffer;
    }

    long bytes() {
        return buffer.bytes();
    }

    /** Idempotent; nothing enqueued may need the memory any more. */
    @Override
    public synchronized void close() {
        if (!closed) {
            long bytes = buffer.bytes();
            buffer.close();
            closed = true; // not before: a close that failed may be called again
            if (kept) {
                ledger.drop(bytes);
            } else {
                ledger.release(use, bytes);
            }
        }
    }
}
