package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Work done in order by a daemon thread of its own, which starts with the first piece. Thread-safe. */
final class WorkQueue {
    private final EmulatedDevice device;
    private final Queue<Work> waiting = new ArrayDeque<>();
    private @Nullable Thread thread;
    private boolean busy;
    private boolean closed;

    WorkQueue(EmulatedDevice device) {
        this.device = device;
    }

    synchronized void add(Work work) {
        if (closed) {
            throw new NativeException("emulator: the stream is closed");
        }
        waiting.add(work);
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("tenon-emulator-stream").start(this::loop);
        }
        notifyAll();
    }

    synchronized boolean idle() {
        return waiting.isEmpty() && !busy;
    }

    /** Waits for the work, through interrupts: whoever stopped waiting would free memory that the work still uses. */
    synchronized void drain() {
        Uninterrupted.run(() -> {
            while (!idle()) {
                wait();
            }
        });
    }

    /** Waits for the work, then lets the thread end. */
    void close() {
        drain();
        synchronized (this) {
            closed = true;
            notifyAll();
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

    private void loop() {
        try {
            for (Work work = next(); work != null; work = next()) {
                try {
                    // a lost device does no more work, but nobody may wait for its events for ever
                    if (device.healthy() || work instanceof Work.Mark) {
                        work.run(device);
                    }
                } catch (RuntimeException e) {
                    device.lose("emulator: " + e.getMessage());
                } finally {
                    done();
                }
            }
        } catch (InterruptedException _) {
            // nobody interrupts it; if somebody does, the stream ends
        }
    }
}
