package dev.tenon.cpu.step;

import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.OutOfMemoryException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Host memory that is entered in the device's ledger while it lives. Thread-safe. */
public final class LedgerMemory {
    private static final long ALIGNMENT = 64;

    private final MemoryLedger ledger;
    private final HostSupply supply;

    public LedgerMemory(MemoryLedger ledger, HostSupply supply) {
        this.ledger = ledger;
        this.supply = supply;
    }

    /**
     * Zeros, 64-byte aligned, entered under {@code use}, which every thread may use until they are closed.
     *
     * @throws OutOfMemoryException past the cap, or when the JVM has none left; nothing is held then
     */
    public Piece allocate(long bytes, MemoryLedger.Use use, String purpose) {
        ledger.enter(use, bytes, purpose);
        try {
            return new Piece(bytes, use);
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            ledger.release(use, bytes);
            throw new OutOfMemoryException(
                    "cpu: no " + bytes + " bytes of host memory for " + purpose + " (" + e.getMessage()
                            + "); Tenon holds " + ledger.holders()
                            + "; the JVM's own limit on memory outside the heap is -XX:MaxDirectMemorySize",
                    bytes,
                    e);
        } catch (RuntimeException | Error e) {
            ledger.release(use, bytes);
            throw e;
        }
    }

    /** One allocation. Closed once, by its owner. */
    public final class Piece implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;
        private final MemoryLedger.Use use;

        private Piece(long bytes, MemoryLedger.Use use) {
            this.use = use;
            try {
                this.segment = supply.allocate(arena, bytes, ALIGNMENT);
            } catch (RuntimeException | Error e) {
                arena.close();
                throw e;
            }
        }

        public MemorySegment segment() {
            return segment;
        }

        /** Gives the memory back; nothing may read it any more. */
        @Override
        public void close() {
            long bytes = segment.byteSize();
            arena.close();
            ledger.release(use, bytes);
        }
    }
}
