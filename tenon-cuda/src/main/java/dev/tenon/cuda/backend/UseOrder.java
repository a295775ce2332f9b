package dev.tenon.cuda.backend;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.DeviceLostException;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The order of what is enqueued on one piece of memory from streams that go on unwaited for. One event marks the last
 * use, which came after all before it, so a wait for it is a wait for all. A use that changes the memory brings its
 * outcome along: code that throws if the work came to nothing. Thread-safe.
 */
final class UseOrder {
    private final GpuContext context;
    private @Nullable GpuEvent last;
    private @Nullable GpuStream by;
    /** Whether what {@link #last} marks may not be done. */
    private boolean pending;
    /** Uses that are being enqueued at this moment. */
    private int entering;

    private final Set<Runnable> outcomes = new LinkedHashSet<>();
    private @Nullable Runnable failed;

    UseOrder(GpuContext context) {
        this.context = context;
    }

    /** What is enqueued on the stream from now on comes after all uses so far. */
    synchronized void follow(GpuStream stream) {
        if (pending && last != null && !stream.equals(by)) {
            stream.await(last);
        }
    }

    /** Begins a use, which {@link #mark} ends; until then the memory counts as in use. */
    synchronized void enter(GpuStream stream) {
        if (last == null) {
            last = context.newEvent(false); // before anything is enqueued, should there be no more of them
        }
        follow(stream);
        entering++;
    }

    /**
     * Ends a use, whose work has been enqueued.
     *
     * @param outcome of a use that changes the memory, else null
     */
    synchronized void mark(GpuStream stream, @Nullable Runnable outcome) {
        entering--;
        if (outcome != null) {
            outcomes.add(outcome);
        }
        GpuEvent event = last;
        if (event != null) {
            follow(stream); // another use may have been marked since this one began
            stream.record(event);
            by = stream;
            pending = true;
        }
    }

    /** Whether nothing works on the memory any more; never waits. */
    synchronized boolean done() {
        if (entering > 0) {
            return false;
        }
        if (pending && last != null) {
            try {
                if (!last.passed()) {
                    return false;
                }
            } catch (DeviceLostException | ClosedException _) {
                // nothing works on a lost device, nor on memory of a context that was closed
            }
            conclude();
        }
        return true;
    }

    /** The stream's work is known to be done, and what had this outcome to have ended well. */
    synchronized void confirm(GpuStream stream, Runnable outcome) {
        if (entering == 0 && stream.equals(by)) {
            outcomes.remove(outcome);
            conclude();
        }
    }

    private void conclude() {
        pending = false;
        by = null;
        for (Runnable outcome : outcomes) {
            try {
                outcome.run();
            } catch (CollectiveException _) {
                failed = outcome; // says it again to whoever reads
            }
        }
        outcomes.clear();
    }

    /** @throws CollectiveException when a use that is done was to change the memory, and has failed */
    synchronized void requireGood() {
        done();
        if (failed != null) {
            failed.run();
        }
    }

    synchronized void close() {
        if (last != null) {
            last.close();
        }
    }
}
