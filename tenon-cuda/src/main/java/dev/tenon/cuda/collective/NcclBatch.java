package dev.tenon.cuda.collective;

import dev.tenon.core.error.InputException;
import dev.tenon.nativelib.nccl.Nccl;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The calls that one thread makes for several ranks: checked as they come, handed to NCCL together at the end. One that
 * fails to be made leaves nothing half done.
 */
final class NcclBatch {
    private static final ThreadLocal<NcclBatch> CURRENT = new ThreadLocal<>();

    /** One NCCL call of one rank; the rank's mark is set after all. */
    private record Entry(RankState rank, DeviceWork work) {}

    private final List<Entry> calls = new ArrayList<>();
    private final List<Runnable> launches = new ArrayList<>();
    private final List<TensorUses> tensors = new ArrayList<>();

    private NcclBatch() {}

    /** The calling thread's; null outside {@link #run}. */
    static @Nullable NcclBatch current() {
        return CURRENT.get();
    }

    /** Runs code whose device collectives, of any ranks of this process, are enqueued together when it ends. */
    static void run(Runnable code) {
        if (CURRENT.get() != null) {
            throw new InputException("together() within together(): one is enough");
        }
        NcclBatch batch = new NcclBatch();
        CURRENT.set(batch);
        try {
            code.run();
        } catch (Throwable e) {
            batch.tensors.forEach(TensorUses::release);
            throw e;
        } finally {
            CURRENT.remove();
        }
        try {
            batch.tensors.forEach(TensorUses::enter);
            batch.enqueue();
        } finally {
            batch.tensors.forEach(TensorUses::leave);
        }
    }

    /** A call of NCCL's; the batch lets go of its tensors. */
    void add(RankState rank, DeviceWork work, TensorUses used) {
        hold(used);
        calls.add(new Entry(rank, work));
    }

    /** A launch, which goes out before the calls; the batch lets go of its tensors. */
    void addLaunch(Runnable launch, TensorUses used) {
        hold(used);
        launches.add(launch);
    }

    /** What is enqueued together has no order between streams. */
    private void hold(TensorUses used) {
        if (tensors.stream().anyMatch(used::crosses)) {
            throw new InputException(
                    "together(): two calls, on two streams, work on one tensor, and one must come after the other; say them in two batches");
        }
        tensors.add(used);
    }

    /** Whether a launch of this rank would overtake one of its calls. */
    boolean holdsCallsOf(RankState rank) {
        return calls.stream().anyMatch(entry -> entry.rank() == rank);
    }

    private void enqueue() {
        launches.forEach(Runnable::run);
        if (calls.isEmpty()) {
            return;
        }
        Set<NcclHandle> handles = new LinkedHashSet<>();
        calls.stream()
                .map(entry -> entry.rank().nccl)
                .sorted(Comparator.comparingInt(
                        handle -> handle.context.device().ordinal()))
                .forEach(handles::add);
        List<NcclHandle> held = new ArrayList<>();
        NcclHandle first = handles.iterator().next();
        try {
            for (NcclHandle handle : handles) {
                handle.order().lock();
                held.add(handle);
                handle.fate.check(handle.rank);
                handle.begin();
            }
            first.check("ncclGroupStart", Nccl.ncclGroupStart());
            try {
                for (Entry entry : calls) {
                    entry.work().enqueue(entry.rank().nccl);
                }
            } finally {
                first.check("ncclGroupEnd", Nccl.ncclGroupEnd());
            }
        } finally {
            for (NcclHandle handle : held) {
                handle.end();
                handle.order().unlock();
            }
        }
        for (Entry entry : calls) {
            entry.rank().mark(entry.work().stream());
        }
    }
}
