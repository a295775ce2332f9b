package dev.tenon.models.embedding;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.runtime.CompiledModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;

/**
 * Makes plans for sizes that are about to be run, by threads of their own and in the order in which they are wanted,
 * while the device computes the first. Thread-safe.
 */
final class PlansAhead {
    private static final int MOST_THREADS = 8;

    private final CompiledModel model;
    private final Set<Map<String, Long>> known = ConcurrentHashMap.newKeySet();

    PlansAhead(CompiledModel model) {
        this.model = model;
    }

    /** Plans that are being made. */
    interface Making extends AutoCloseable {
        /** Returns when none is being made any more. */
        @Override
        void close();
    }

    /** Begins with what no earlier call has named. */
    Making begin(List<TextBatch> batches) {
        List<Map<String, Long>> sizes = new ArrayList<>();
        for (TextBatch batch : batches) {
            Map<String, Long> size = FirstBatch.sizes(model.inputs(), batch);
            if (size != null && known.add(size)) {
                sizes.add(size);
            }
        }
        if (sizes.size() < 2) { // the run makes one as soon
            return () -> {};
        }
        int threads = Math.min(
                Math.min(MOST_THREADS, sizes.size()), Runtime.getRuntime().availableProcessors());
        FutureTask<Boolean> making = ParallelTasks.aside("tenon-plan", () -> {
            ParallelTasks.run(threads, sizes.size(), i -> plan(sizes.get(i)));
            return true;
        });
        return () -> ParallelTasks.result(making);
    }

    private void plan(Map<String, Long> size) {
        try {
            model.plan(size);
        } catch (TenonException | OutOfMemoryError e) {
            known.remove(size); // the run that needs it says what is wrong
        }
    }
}
