package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.Program;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.lower.step.GpuFrame;
import org.jspecify.annotations.Nullable;

/**
 * Runs the host steps of one plan in one session, in a context of the CPU backend that the first of them opens. Used
 * by one thread at a time.
 */
final class HostSteps implements GpuFrame.HostRuns, AutoCloseable {
    private final HostBackend backend;
    private final HostBytes bytes;
    private Device.@Nullable State context;

    /** @param ledger the GPU's, which says what is held of the host */
    HostSteps(HostBackend backend, MemoryLedger ledger) {
        this.backend = backend;
        this.bytes = new HostBytes(ledger);
    }

    @Override
    public Tensor[] run(Program program, Tensor[] operands) {
        Device.State where = context;
        if (where == null) {
            where = backend.device("a step of the CPU backend").newState();
            context = where;
        }
        try {
            return program.run(where, operands);
        } finally {
            bytes.are(where.bytes());
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        if (context != null) {
            context.close();
            bytes.are(0);
            context = null;
        }
    }
}
