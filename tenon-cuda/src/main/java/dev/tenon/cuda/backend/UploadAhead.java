package dev.tenon.cuda.backend;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cuda.port.GpuContext;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Uploads constants by a thread of its own while the plan that is expected to read them is lowered, which waits for
 * libraries to start. {@link #close} frees what no plan has taken by then.
 */
final class UploadAhead implements AutoCloseable {
    private final GpuWeights weights;
    private final List<GpuWeights.Layout> expected;
    /** Guarded by the weights. */
    private final Set<GpuWeights.Layout> held = new HashSet<>();

    private final @Nullable Thread thread;
    private volatile boolean stopped;

    private UploadAhead(GpuContext context, GpuWeights weights, List<GpuWeights.Layout> expected) {
        this.weights = weights;
        this.expected = expected;
        this.thread = expected.isEmpty() ? null : started(context);
    }

    /** Begins; with nothing to upload there is no thread. */
    static UploadAhead begin(GpuContext context, GpuWeights weights, List<GpuWeights.Layout> expected) {
        return new UploadAhead(context, weights, expected);
    }

    private @Nullable Thread started(GpuContext context) {
        Thread fresh = Thread.ofPlatform().daemon().name("tenon-weights").unstarted(this::work);
        try {
            context.start(fresh);
            return fresh;
        } catch (OutOfMemoryError e) {
            return null; // no thread is to be had: the plan uploads what it reads
        }
    }

    private void work() {
        for (GpuWeights.Layout layout : expected) {
            if (stopped) {
                return;
            }
            try {
                long _ = weights.address(layout, held);
            } catch (TenonException | OutOfMemoryError e) {
                return; // the plan that reads it meets the same, and says so
            }
        }
    }

    /**
     * Waits for what is being uploaded, and frees all but what the plan reads: the room for that is not taken by what
     * was expected wrongly.
     *
     * @param read asked for where something was expected
     */
    void keep(Supplier<Set<GpuWeights.Layout>> read) {
        if (expected.isEmpty()) {
            return;
        }
        await();
        Set<GpuWeights.Layout> unread = new HashSet<>(held);
        unread.removeAll(read.get());
        held.removeAll(unread);
        weights.release(unread);
    }

    private void await() {
        Thread working = thread;
        if (working != null) {
            Uninterrupted.run(working::join);
        }
    }

    @Override
    public void close() {
        stopped = true;
        await();
        weights.release(held);
    }
}
