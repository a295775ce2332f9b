package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.RunObserver;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Marks in a stream between the copies and steps of one run, and the times between them once the run is done. Used by
 * one thread.
 */
final class RunTimeline implements AutoCloseable {
    /** @param host when the host had enqueued what is before the mark, by {@link System#nanoTime} */
    private record Mark(GpuEvent event, long host) {}

    private final GpuContext context;
    private final GpuStream stream;
    private final List<Mark> marks = new ArrayList<>();

    /** Begins with a mark that the idle stream passes at once, which lays the device's time onto the host's. */
    RunTimeline(GpuContext context, GpuStream stream) {
        this.context = context;
        this.stream = stream;
        stream.synchronize();
        mark();
    }

    /** Marks this point of the stream. */
    void mark() {
        GpuEvent event = context.newEvent(true);
        // read before the record: the device never seems to be ahead of the host, whenever this thread is held up
        marks.add(new Mark(event, System.nanoTime()));
        stream.record(event);
    }

    /**
     * Tells what the run did, which must be done: it has marked the end of the copies in, of each step of the program,
     * and of the copies out.
     */
    void tell(GpuProgram program, RunObserver observer) {
        int steps = marks.size() - 3;
        span(observer, "copies", "inputs", 0);
        for (int i = 0; i < steps; i++) {
            observer.step(program, i, "gpu", device(i + 1), device(i + 2));
            observer.span("host", "enqueue", marks.get(i + 1).host, marks.get(i + 2).host);
        }
        span(observer, "copies", "outputs", steps + 1);
    }

    private void span(RunObserver observer, String track, String name, int from) {
        observer.span(track, name, device(from), device(from + 1));
    }

    private long device(int mark) {
        Mark first = marks.getFirst();
        return first.host + (long) (1e3 * marks.get(mark).event.microsecondsSince(first.event));
    }

    @Override
    public void close() {
        Closing closing = new Closing();
        marks.forEach(mark -> closing.step(mark.event::close));
        closing.end();
    }
}
