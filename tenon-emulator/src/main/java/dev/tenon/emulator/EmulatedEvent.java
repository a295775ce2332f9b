package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cuda.port.GpuEvent;
import org.jspecify.annotations.Nullable;

/** A mark in a stream. Each record has a number; it has passed when that number or a later one has. Thread-safe. */
final class EmulatedEvent implements GpuEvent {
    private final EmulatedContext context;
    private final boolean timing;
    private long recorded;
    private long passed;
    private long passedAt;
    /** What the stream had done when it passed last; null where the order is not checked. */
    private long @Nullable [] clock;

    private @Nullable Capture capture;
    private @Nullable EmulatedStream recorder;

    EmulatedEvent(EmulatedContext context, boolean timing) {
        this.context = context;
        this.timing = timing;
    }

    static EmulatedEvent of(GpuEvent event) {
        if (event instanceof EmulatedEvent own) {
            return own;
        }
        throw new NativeException(
                "emulator: an event of another platform: " + event.getClass().getName());
    }

    /** A new record that work will pass; a replayed graph passes it again and again. */
    synchronized long next(@Nullable Capture into, EmulatedStream by) {
        capture = into;
        recorder = by;
        return into == null ? ++recorded : recorded;
    }

    synchronized @Nullable EmulatedStream recorder() {
        return recorder;
    }

    synchronized long last() {
        return recorded;
    }

    /** The capture that recorded it last; null for an ordinary record. */
    synchronized @Nullable Capture capture() {
        return capture != null && capture.open() ? capture : null;
    }

    synchronized void pass(long number, @Nullable OrderClock by) {
        if (by != null) {
            clock = by.copy();
        }
        passed = Math.max(passed, number);
        passedAt = System.nanoTime();
        notifyAll();
    }

    /** @param follower what comes after the event from then on */
    synchronized void awaitPassed(long number, @Nullable OrderClock follower) throws InterruptedException {
        while (passed < number) {
            wait();
        }
        if (follower != null && clock != null) {
            follower.join(clock);
        }
    }

    /** The host knows that it has passed. */
    private synchronized void hostWaited() {
        OrderCheck order = context.shared().order();
        if (order != null && clock != null) {
            order.waited(clock);
        }
    }

    @Override
    public boolean passed() {
        refuseInCapture("event query");
        context.shared().check();
        synchronized (this) {
            if (passed < recorded) {
                return false;
            }
            hostWaited();
            return true;
        }
    }

    @Override
    public void synchronize() {
        refuseInCapture("event synchronize");
        Uninterrupted.run(() -> awaitPassed(last(), null));
        hostWaited();
        context.shared().check();
    }

    private void refuseInCapture(String call) {
        Capture recording = capture();
        if (recording != null) {
            throw recording.breakWith(call + " of an event recorded in the capture");
        }
        context.refuseInCapture(call);
    }

    @Override
    public double microsecondsSince(GpuEvent earlier) {
        EmulatedEvent first = of(earlier);
        if (!timing || !first.timing) {
            throw new NativeException("emulator: elapsed time of events made without timing");
        }
        return (time() - first.time()) / 1e3;
    }

    private synchronized long time() {
        if (recorded == 0 || passed < recorded) {
            throw new NativeException("emulator: elapsed time of an event that has not passed");
        }
        return passedAt;
    }

    @Override
    public void close() {
        // nothing is held
    }
}
