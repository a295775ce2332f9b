package dev.tenon.cuda.dnn;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Siblings;
import dev.tenon.cuda.tuning.Tuner;
import dev.tenon.cuda.tuning.TuningRecords;
import dev.tenon.nativelib.cudnn.Cudnn;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makers of plans, each with a handle of its own: as many as there are threads that make plans at the same time.
 * Thread-safe. Close it when nothing is made any more, with no work being recorded, and before the context.
 */
final class DnnMakers implements AutoCloseable {
    private final GpuContext device;
    private final Lock withoutRecording;
    private final long mostWorkspaceBytes;
    private final @Nullable TuningRecords found;
    private final Siblings<DnnProblem> siblings = new Siblings<>();
    /** Kinds that a kernel of ours has been or is being loaded for, and those for which it is. */
    private final Set<DnnProblem> rehearsing = ConcurrentHashMap.newKeySet();

    private final Set<DnnProblem> rehearsed = ConcurrentHashMap.newKeySet();
    private final Map<DnnProblem, Long> workspaces = new ConcurrentHashMap<>();
    private final Deque<DnnMaker> spare = new ArrayDeque<>();
    private int all;

    /** With a first one. @throws TenonException where none can be made */
    DnnMakers(GpuContext device, Tuner tuner, long mostWorkspaceBytes) {
        this.device = device;
        this.withoutRecording = tuner.recording().writeLock();
        this.mostWorkspaceBytes = mostWorkspaceBytes;
        this.found = tuner.records("cuDNN " + Cudnn.cudnnGetVersion());
        give(made());
    }

    /** What was found by timing; null where nothing is timed. */
    @Nullable
    TuningRecords found() {
        return found;
    }

    /**
     * Lets a kernel of ours be made ready, so that later sizes of a problem run by it first.
     *
     * @param later does something at another time
     */
    void rehearse(DnnProblem problem, Rival rival, Consumer<Runnable> later) {
        DnnProblem kind = problem.kind();
        if (rehearsing.add(kind)) {
            later.accept(() -> {
                if (rival.rehearse()) {
                    rehearsed.add(kind);
                } else {
                    rehearsing.remove(kind); // what is compiled later may be at hand for the next size
                }
            });
        }
    }

    int rehearsed() {
        return rehearsed.size();
    }

    /** Works with a maker that no other thread has meanwhile. */
    <T> T with(Function<DnnMaker, T> work) {
        AtomicReference<T> made = new AtomicReference<>();
        DnnMaker maker = take();
        try {
            device.call(() -> made.set(work.apply(maker)));
        } finally {
            give(maker);
        }
        return Objects.requireNonNull(made.get());
    }

    /** Where there is no further handle to be had, one that comes back. */
    private DnnMaker take() {
        synchronized (this) {
            DnnMaker known = spare.poll();
            if (known != null) {
                return known;
            }
        }
        try {
            return made();
        } catch (TenonException e) {
            return awaited(e);
        }
    }

    private DnnMaker made() {
        DnnMaker made = new DnnMaker(
                newHandle(device, withoutRecording), mostWorkspaceBytes, found, siblings, rehearsed, workspaces);
        synchronized (this) {
            all++;
        }
        return made;
    }

    /** @throws TenonException the refusal, where there is no maker at all */
    private synchronized DnnMaker awaited(TenonException refusal) {
        if (all == 0) {
            throw refusal;
        }
        Uninterrupted.run(() -> {
            while (spare.isEmpty()) {
                wait();
            }
        });
        return spare.remove();
    }

    private synchronized void give(DnnMaker maker) {
        spare.push(maker);
        notify();
    }

    /**
     * A handle of the library.
     *
     * @param withoutRecording held meanwhile: no thread records work
     */
    static long newHandle(GpuContext device, Lock withoutRecording) {
        withoutRecording.lock();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            device.call(() -> CudnnLibrary.CHECK.check(Cudnn.cudnnCreate(out.address()), "cudnnCreate()"));
            return out.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            withoutRecording.unlock();
        }
    }

    /** Idempotent. The context is current. */
    @Override
    public synchronized void close() {
        for (DnnMaker maker = spare.poll(); maker != null; maker = spare.poll()) {
            CudnnLibrary.CHECK.check(Cudnn.cudnnDestroy(maker.handle()), "cudnnDestroy()");
        }
    }
}
