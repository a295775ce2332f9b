package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The streams of a session, as many as its programs have asked for, and the events between them. Used by one thread at
 * a time.
 */
final class SessionLanes implements AutoCloseable {
    private final GpuDevice device;
    private final List<Lane> lanes = new ArrayList<>();
    private final List<GpuEvent> events = new ArrayList<>();

    SessionLanes(GpuDevice device) {
        this.device = device;
        lanes.add(new Lane(device));
    }

    /** The session's own stream. */
    GpuStream stream() {
        return lanes.getFirst().stream();
    }

    Lane lane(int number) {
        return lanes.get(number);
    }

    /** Events for the marks of a stretch. */
    List<GpuEvent> events(int count) {
        return events.subList(0, count);
    }

    /** Whether the streams that a program uses have memory enough. */
    boolean hold(GpuProgram program) {
        for (int i = 0; i < Math.min(lanes.size(), program.lanes()); i++) {
            if (!lanes.get(i).holds(program.kernelWorkspaceBytes(i), program.counterBytes(i))) {
                return false;
            }
        }
        return true;
    }

    /** Makes streams, memory and events for a program; whether some counters are new. */
    boolean grow(GpuProgram program) {
        while (lanes.size() < program.lanes()) {
            lanes.add(new Lane(device));
        }
        while (events.size() < program.marks()) {
            events.add(device.context().newEvent(false));
        }
        boolean fresh = false;
        for (int i = 0; i < program.lanes(); i++) {
            fresh |= lanes.get(i).grow(program.kernelWorkspaceBytes(i), program.counterBytes(i));
            if (program.callsCublas(i)) {
                lanes.get(i).blas().start();
            }
        }
        return fresh;
    }

    /** Zeroes the counters of all streams, on the first. */
    void clean() {
        lanes.forEach(lane -> lane.clean(stream()));
    }

    /** Waits for what is enqueued on all streams, and ignores failures: the caller already reports one. */
    void drain() {
        for (Lane lane : lanes) {
            try {
                lane.stream().synchronize();
            } catch (TenonException _) {
                // the failure that led here says more
            }
        }
    }

    long bytes() {
        return lanes.stream().mapToLong(Lane::bytes).sum();
    }

    /** Idempotent; a close that failed may be called again and goes on where it ended. */
    @Override
    public void close() {
        Closing closing = new Closing();
        lanes.forEach(lane -> closing.step(lane::close));
        closing.each(events, GpuEvent::close);
        closing.end();
    }
}
