package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.lazy.Uninterrupted;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Work done in order by a daemon thread of its own, which starts with the first piece. Thread-safe. */
final class WorkQueue {
    /** A constant: putting a message together takes memory. */
    private static final String HEAP_EXHAUSTED =
            "emulator: the Java heap was exhausted while a stream worked; raise it with -Xmx";

    private final EmulatedDevice device;
    /** Null where the order between streams is not checked; used by the thread, and by others while nothing runs. */
    private final @Nullable OrderClock clock;

    private final Queue<Work> waiting = new ArrayDeque<>();
    private @Nullable Thread thread;
    private boolean busy;
    private boolean closed;

    WorkQueue(EmulatedDevice device) {
        this.device = device;
        this.clock = device.newClock();
    }

    synchronized void add(Work work) {
        if (closed) {
            throw new NativeException("emulator: the stream is closed");
        }
        if (thread == null) { // before the work is added: without a thread it would be waited for for ever
            thread = Thread.ofPlatform().daemon().name("tenon-emulator-stream").start(this::loop);
        }
        OrderCheck order = device.order();
        if (order != null) {
            waiting.add(new Work.AfterHost(order.host()));
        }
        waiting.add(work);
        notifyAll();
    }

    synchronized boolean idle() {
        if (!waiting.isEmpty() || busy) {
            return false;
        }
        device.hostWaited(clock);
        return true;
    }

    /**
     * Waits for the work, through interrupts, and allocates nothing: a caller that stopped waiting would free memory
     * that the work still uses.
     */
    synchronized void drain() {
        boolean interrupted = false;
        while (!idle()) {
            try {
                wait();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the work and for the end of the thread, unless this is it. */
    void close() {
        drain();
        Thread ending;
        synchronized (this) {
            closed = true;
            ending = thread;
            notifyAll();
        }
        if (ending != null && ending != Thread.currentThread()) {
            Uninterrupted.run(ending::join);
        }
    }

    private synchronized @Nullable Work next() throws InterruptedException {
        while (waiting.isEmpty() && !closed) {
            wait();
        }
        Work work = waiting.poll();
        busy = work != null;
        return work;
    }

    private synchronized void done() {
        busy = false;
        notifyAll();
    }

    /**
     * Ends only when the queue is closed: whatever a piece of work throws, the pieces behind it are still waited for.
     */
    private void loop() {
        while (true) {
            try {
                Work work = next();
                if (work == null) {
                    return;
                }
                run(work);
            } catch (InterruptedException _) {
                // no caller has this thread to interrupt it
            }
        }
    }

    private void run(Work work) throws InterruptedException {
        try {
            // a lost device does no more work, but its events still pass for those that wait
            if (device.healthy() || work instanceof Work.Mark) {
                if (clock != null) {
                    clock.advance();
                }
                work.run(device, clock);
            }
        } catch (RuntimeException e) {
            device.lose("emulator: " + e.getMessage());
        } catch (OutOfMemoryError _) {
            device.lose(HEAP_EXHAUSTED);
        } catch (Error e) {
            device.lose(e.toString());
        } finally {
            done();
        }
    }
}
