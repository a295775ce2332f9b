package dev.tenon.cuda.dnn;

import org.jspecify.annotations.Nullable;

/**
 * Operations that are about to be prepared, and the plans that threads make of them meanwhile: of a new size all are
 * asked for one after the other. Used by one thread.
 */
public final class DnnExpected implements AutoCloseable {
    private final Dnn dnn;
    /** A single one is as well made by the thread that asks for it. */
    private @Nullable DnnAsked first;

    private Ahead<DnnAsked, DnnMaker.Made>.@Nullable Batch batch;

    DnnExpected(Dnn dnn) {
        this.dnn = dnn;
    }

    /**
     * Lets a thread make a plan that is not known yet. Starts the library with the second one.
     *
     * @param asked behind those before it; one that is never prepared costs some time
     */
    public void add(DnnAsked asked) {
        DnnAsked before = first;
        if (batch == null && before == null) {
            first = asked;
            return;
        }
        if (batch == null) {
            batch = dnn.begin();
        }
        if (batch != null && before != null) {
            add(batch, before);
            first = null;
        }
        if (batch != null) {
            add(batch, asked);
        }
    }

    private void add(Ahead<DnnAsked, DnnMaker.Made>.Batch to, DnnAsked asked) {
        if (!dnn.knows(asked)) {
            to.add(asked);
        }
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
