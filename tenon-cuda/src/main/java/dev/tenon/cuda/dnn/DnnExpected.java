package dev.tenon.cuda.dnn;

import org.jspecify.annotations.Nullable;

/** Operations that are about to be prepared, and the plans that threads make of them meanwhile. Used by one thread. */
public final class DnnExpected implements AutoCloseable {
    private final Ahead<DnnAsked, DnnMaker.Made>.@Nullable Batch batch;

    DnnExpected(Ahead<DnnAsked, DnnMaker.Made>.@Nullable Batch batch) {
        this.batch = batch;
    }

    /** Nothing is expected. */
    public static DnnExpected nothing() {
        return new DnnExpected(null);
    }

    /** What was made, once; null where no thread has begun with it. */
    DnnMaker.@Nullable Made take(DnnAsked asked) {
        return batch == null ? null : batch.take(asked);
    }

    /** Gives up the plans that were not taken. */
    @Override
    public void close() {
        if (batch != null) {
            batch.close();
        }
    }
}
