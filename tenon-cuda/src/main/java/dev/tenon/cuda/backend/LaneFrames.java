package dev.tenon.cuda.backend;

import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import java.util.List;

/**
 * What one session's streams see of one program, and the events between them. Used by one thread at a time.
 *
 * @param lanes a frame per stream; the first is the session's own stream
 * @param events as many as a stretch of the program has marks
 */
record LaneFrames(List<GpuFrame> lanes, List<GpuEvent> events) {
    LaneFrames {
        lanes = List.copyOf(lanes);
        events = List.copyOf(events);
    }

    GpuFrame first() {
        return lanes.getFirst();
    }

    GpuFrame lane(int number) {
        return lanes.get(number);
    }

    /** The session's own stream: what is enqueued on it comes behind the runs before and before the results. */
    GpuStream stream() {
        return first().stream();
    }

    /** Marks this point of a stream; nothing for a negative mark. */
    void record(int mark, int lane) {
        if (mark >= 0) {
            lane(lane).stream().record(events.get(mark));
        }
    }

    /** Work enqueued on a stream from now on waits for a mark. */
    void await(int mark, int lane) {
        lane(lane).stream().await(events.get(mark));
    }
}
