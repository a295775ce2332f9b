package dev.tenon.cpu.step;

import dev.tenon.core.backend.RunObserver;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What the steps of one run see: the memory of every value by its slot, workers, workspace. One a session and plan;
 * used by one run at a time.
 */
public final class CpuFrame {
    private final MemorySegment[] slots;
    private final MemorySegment[] workspace;
    private final Registers[] registers;
    private final Records[] records;
    /** Whether a slot is bound anew for each run. */
    private final boolean[] bound;

    private final long[] group = new long[3];
    private final WorkerPool pool;
    private @Nullable RunObserver observer;

    public CpuFrame(MemorySegment[] slots, MemorySegment[] workspace, WorkerPool pool) {
        this.slots = slots;
        this.workspace = workspace;
        this.pool = pool;
        this.registers = new Registers[pool.threads()];
        this.records = new Records[pool.threads()];
        this.bound = new boolean[slots.length];
        for (int worker = 0; worker < registers.length; worker++) {
            registers[worker] = new Registers();
            records[worker] = new Records(this);
        }
    }

    /** The memory of a value: exactly its bytes. */
    public MemorySegment at(int slot) {
        return slots[slot];
    }

    /** Sets the memory of an input or output for this run. */
    public void bind(int slot, MemorySegment segment) {
        slots[slot] = segment;
        bound[slot] = true;
    }

    /** Whether that is the memory of an input or output of this run. */
    boolean isBound(MemorySegment memory) {
        for (int slot = 0; slot < bound.length; slot++) {
            if (bound[slot] && slots[slot].equals(memory)) {
                return true;
            }
        }
        return false;
    }

    /** What a worker names memory by, kept from run to run. */
    public Records records(int worker) {
        return records[worker];
    }

    /**
     * Memory that a worker may write during a step, at least the step's {@link CpuStep#workspaceBytes}, aligned to 64
     * bytes.
     */
    public MemorySegment workspace(int worker) {
        return workspace[worker];
    }

    /** Places that a worker may keep references and offsets in during a task, so that a task allocates nothing. */
    public Registers registers(int worker) {
        return registers[worker];
    }

    /** Three numbers that a step may set before a loop and its tasks read. */
    public long[] group() {
        return group;
    }

    public int threads() {
        return pool.threads();
    }

    /** Tells an observer what workers do from now on; null ends it. Set between steps. */
    public void observe(@Nullable RunObserver next) {
        observer = next;
    }

    /** Whom workers tell what they do. */
    public @Nullable RunObserver observer() {
        return observer;
    }

    /**
     * Runs the iterations [0, count) on the workers, in pieces of at least {@code grain}; returns when all are done, or
     * throws what one threw.
     */
    public void parallel(RangeTask task, long count, long grain) {
        pool.run(this, task, count, grain);
    }
}
