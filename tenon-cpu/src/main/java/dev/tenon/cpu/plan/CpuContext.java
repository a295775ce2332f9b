package dev.tenon.cpu.plan;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.RunObserver;
import dev.tenon.core.error.ClosedException;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.LedgerMemory;
import dev.tenon.cpu.step.WorkerPool;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one session: an arena as large as its largest plan, workspace for every worker, and a frame a program.
 * Used by one thread at a time.
 */
public final class CpuContext implements Device.State {
    private final LedgerMemory memory;
    private final WorkerPool pool;
    private final Block activations;
    private final Block workspace;
    private final Block staging;
    /** Weak, so that a program that the runtime has evicted takes its frame with it. */
    private final Map<CpuProgram, CpuFrame> frames = new WeakHashMap<>();

    private @Nullable RunObserver observer;
    private boolean closed;

    public CpuContext(LedgerMemory memory, WorkerPool pool) {
        this.memory = memory;
        this.pool = pool;
        activations = new Block(MemoryLedger.Use.ACTIVATIONS, "the activations of a session");
        workspace = new Block(MemoryLedger.Use.WORKSPACE, "the workspace of a session");
        staging = new Block(MemoryLedger.Use.WORKSPACE, "aligned copies of inputs");
    }

    /** One stretch of memory that only grows. */
    private final class Block {
        private final MemoryLedger.Use use;
        private final String purpose;
        private LedgerMemory.@Nullable Piece piece;

        Block(MemoryLedger.Use use, String purpose) {
            this.use = use;
            this.purpose = purpose;
        }

        MemorySegment segment() {
            return piece == null ? MemorySegment.NULL : piece.segment();
        }

        /**
         * Whether it had to be replaced; what it held is gone then. The old memory is freed first, so that the peak is
         * the larger of the two and not their sum.
         */
        boolean grow(long bytes) {
            if (bytes <= segment().byteSize()) {
                return false;
            }
            release();
            piece = memory.allocate(bytes, use, purpose);
            return true;
        }

        void release() {
            if (piece != null) {
                piece.close();
                piece = null;
            }
        }
    }

    /** The frame of a program, made at its first run here and again after the memory moved. */
    public CpuFrame frame(CpuProgram program) {
        if (closed) {
            throw new ClosedException("the session is closed");
        }
        CpuFrame known = frames.get(program);
        if (known != null) {
            return known;
        }
        if (activations.segment().byteSize() < program.arenaBytes()
                || workspace.segment().byteSize() < program.workspaceBytes()) {
            frames.clear();
        }
        activations.grow(program.arenaBytes());
        workspace.grow(program.workspaceBytes());
        CpuFrame frame = program.newFrame(activations.segment(), workspace(), pool);
        frames.put(program, frame);
        return frame;
    }

    private MemorySegment[] workspace() {
        int threads = pool.threads();
        long each = workspace.segment().byteSize() / threads / 64 * 64;
        MemorySegment[] parts = new MemorySegment[threads];
        for (int worker = 0; worker < threads; worker++) {
            parts[worker] = workspace.segment().asSlice(worker * each, each);
        }
        return parts;
    }

    /** Waits for the turn of a run of this session among those of all sessions of the device. */
    void enter() {
        pool.enter();
    }

    /** The run that {@link #enter entered} has ended. */
    void leave() {
        pool.leave();
    }

    /** Memory for aligned copies of inputs; valid until the next call. */
    MemorySegment staging(long bytes) {
        staging.grow(bytes);
        return staging.segment();
    }

    @Override
    public void observe(@Nullable RunObserver next) {
        observer = next;
    }

    /** Whom the runs of this context tell what they do. */
    @Nullable
    RunObserver observer() {
        return observer;
    }

    @Override
    public long bytes() {
        return activations.segment().byteSize()
                + workspace.segment().byteSize()
                + staging.segment().byteSize();
    }

    @Override
    public void close() {
        closed = true;
        frames.clear();
        activations.release();
        workspace.release();
        staging.release();
    }
}
