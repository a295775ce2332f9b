package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.tensor.Resident;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A tensor's elements in device memory. A run's results are complete before anybody sees them; collectives work on them
 * later, each after the uses before it, and are not waited for.
 *
 * <p>Work that is enqueued holds the elements: within a run until that has ended, outside one until the work is
 * marked. Closed, the memory is freed after the last hold and the last mark. Thread-safe.
 */
public final class GpuResident implements Resident {
    private final String device;
    private final GpuContext context;
    private final DeviceMemory memory;
    private final Residents among;
    private final PassingStreams streams;
    private final UseOrder uses;
    private final AtomicLong version = new AtomicLong();

    private int holds;
    private boolean closed;
    private boolean gone;

    GpuResident(String device, GpuContext context, DeviceMemory memory, Residents among, PassingStreams streams) {
        this.device = device;
        this.context = context;
        this.memory = memory;
        this.among = among;
        this.streams = streams;
        uses = new UseOrder(context);
        among.add(this);
    }

    /** Null for memory of another runtime. */
    static @Nullable GpuResident of(@Nullable Resident resident, GpuContext context) {
        return resident instanceof GpuResident own && own.context.equals(context) ? own : null;
    }

    @Override
    public String device() {
        return device;
    }

    /** The device, open. */
    public GpuContext context() {
        return context;
    }

    @Override
    public long version() {
        return version.get();
    }

    /** Keeps the memory until {@link #release}. @throws ClosedException after close */
    public synchronized DeviceBuffer hold() {
        if (closed) {
            throw new ClosedException("the tensor's device memory was given back: it was closed");
        }
        holds++;
        return memory.buffer();
    }

    public void release() {
        synchronized (this) {
            holds--;
        }
        freed();
    }

    /**
     * What is enqueued on a stream from now on comes after the work on the elements so far. With a hold until it is
     * done.
     */
    void follow(GpuStream stream) {
        uses.follow(stream);
    }

    /** The same for work that is not waited for, with a hold until {@link #mark}. */
    public void enter(GpuStream stream) {
        uses.enter(stream);
    }

    /**
     * The work since {@link #enter} has been enqueued; whatever comes later comes after it.
     *
     * @param outcome of work that changes the elements: throws a {@link dev.tenon.core.error.CollectiveException} once
     *     it has failed
     */
    public void mark(GpuStream stream, @Nullable Runnable outcome) {
        if (outcome != null) {
            version.incrementAndGet();
        }
        uses.mark(stream, outcome);
    }

    /** All work of a stream is known to be done, and that with this outcome to have ended well. */
    public void confirm(GpuStream stream, Runnable outcome) {
        uses.confirm(stream, outcome);
        freeUnused();
    }

    /** Whether no work is under way on the elements; never waits. */
    public boolean idle() {
        return uses.done();
    }

    /**
     * That the elements are what they should be, asked when work that follows is done.
     *
     * @throws dev.tenon.core.error.CollectiveException when not
     */
    void requireGood() {
        uses.requireGood();
    }

    @Override
    public void read(MemorySegment to) {
        DeviceBuffer buffer = hold();
        try {
            streams.run(stream -> {
                follow(stream);
                stream.copyToHost(buffer, 0, to);
            });
            requireGood();
        } finally {
            release();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        if (!freed()) {
            among.leaves(this);
        }
    }

    /** The same as {@link #freeUnused}; where that fails, it is tried again when the next tensor is made. */
    private boolean freed() {
        try {
            return freeUnused();
        } catch (RuntimeException | Error e) {
            Closing.after(e, () -> among.leaves(this));
            throw e;
        }
    }

    /** Whether the memory has been given back, now or before. */
    boolean freeUnused() {
        synchronized (this) {
            if (!closed || holds > 0) {
                return false;
            }
        }
        if (!uses.done()) {
            return false;
        }
        synchronized (this) {
            if (!gone) { // once: the memory may be another tensor's by now
                among.giveBack(memory);
                gone = true;
            }
        }
        uses.close(); // idempotent
        among.remove(this);
        return true;
    }
}
