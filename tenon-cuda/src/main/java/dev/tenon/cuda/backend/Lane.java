package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.cuda.blas.BlasHandle;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import java.lang.foreign.Arena;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stream of a session and what only its work may use: the slab of arguments, workspace, counters, the handle of
 * library calls. Used by one thread at a time.
 */
final class Lane implements AutoCloseable {
    private final GpuDevice device;
    private final Arena arena = Arena.ofShared();
    private final KernelArguments arguments;
    private final GrowingMemory workspace;
    private final GrowingMemory counters;
    private final GpuStream stream;
    private @Nullable BlasHandle blas;

    Lane(GpuDevice device) {
        this.device = device;
        GpuContext context = device.context();
        MemoryLedger ledger = device.ledger();
        workspace = new GrowingMemory(context, ledger, MemoryLedger.Use.WORKSPACE, "the workspace of a session");
        counters = new GrowingMemory(context, ledger, MemoryLedger.Use.WORKSPACE, "the counters of a session");
        try {
            arguments = new KernelArguments(arena);
            stream = context.newStream(device.options().priority()); // last: nothing that could fail comes after it
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    GpuStream stream() {
        return stream;
    }

    KernelArguments arguments() {
        return arguments;
    }

    long workspaceAddress() {
        return workspace.address();
    }

    long countersAddress() {
        return counters.address();
    }

    /** Whether the memory is enough. */
    boolean holds(long workspaceBytes, long counterBytes) {
        return workspace.bytes() >= workspaceBytes && counters.bytes() >= counterBytes;
    }

    /** Whether the counters had to be replaced; they hold anything then. */
    boolean grow(long workspaceBytes, long counterBytes) {
        workspace.grow(workspaceBytes);
        return counters.grow(counterBytes);
    }

    /** Zeroes the counters, on any stream that this one waits for. */
    void clean(GpuStream on) {
        if (counters.bytes() > 0) {
            on.fill(counters.buffer(), 0, counters.bytes(), (byte) 0);
        }
    }

    BlasHandle blas() {
        BlasHandle known = blas;
        if (known == null) {
            known = device.blas().newHandle(stream);
            blas = known;
        }
        return known;
    }

    long bytes() {
        return workspace.bytes() + counters.bytes();
    }

    /** Idempotent; a close that failed may be called again and goes on where it ended. */
    @Override
    public void close() {
        Closing closing = new Closing();
        closing.step(() -> {
            if (blas != null) {
                blas.close();
                blas = null;
            }
        });
        for (GrowingMemory memory : List.of(workspace, counters)) {
            closing.step(memory::close);
        }
        closing.step(stream::close);
        closing.step(() -> {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        });
        closing.end();
    }
}
