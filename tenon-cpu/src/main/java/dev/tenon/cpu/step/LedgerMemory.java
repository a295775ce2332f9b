package dev.tenon.cpu.step;

import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.OutOfMemoryException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Host memory that is entered in the device's ledger. */
public final class LedgerMemory {
    private LedgerMemory() {}

    /** Memory of the arena, 64-byte aligned and zero, entered under {@code use}. @throws OutOfMemoryException past the cap, or when the JVM has none left; nothing is entered then */
    public static MemorySegment allocate(
            MemoryLedger ledger, Arena arena, long bytes, MemoryLedger.Use use, String purpose) {
        ledger.enter(use, bytes, purpose);
        try {
            return arena.allocate(bytes, 64);
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            ledger.release(use, bytes);
            throw new OutOfMemoryException(
                    "cpu: no " + bytes + " bytes of host memory for " + purpose + "; Tenon holds " + ledger.holders()
                            + " (the JVM's own limit on memory outside the heap is -XX:MaxDirectMemorySize)",
                    e);
        }
    }
}
