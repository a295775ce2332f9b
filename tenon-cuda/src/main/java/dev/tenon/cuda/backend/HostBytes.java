package dev.tenon.cuda.backend;

import dev.tenon.core.backend.MemoryLedger;

/** What a model or session holds in the CPU backend, in the books of its own device. Used by one thread at a time. */
final class HostBytes {
    private final MemoryLedger ledger;
    private long entered;

    HostBytes(MemoryLedger ledger) {
        this.ledger = ledger;
    }

    /** @param bytes held now */
    void are(long bytes) {
        if (bytes > entered) {
            ledger.enter(MemoryLedger.Use.HOST, bytes - entered, "nodes without kernels");
        } else {
            ledger.release(MemoryLedger.Use.HOST, entered - bytes);
        }
        entered = bytes;
    }
}
