package dev.tenon.emulator;

import dev.tenon.core.error.CaptureException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a stream records, and the streams that wait for its events meanwhile. Thread-safe. */
final class Capture {
    private final EmulatedStream origin;
    private final Thread thread = Thread.currentThread();
    private final List<RecordedGraph.Node> nodes = new ArrayList<>();
    /** By stream, its number in the graph; the first's is 0. */
    private final Map<EmulatedStream, Integer> numbers = new HashMap<>();

    private final Set<EmulatedStream> joined = new HashSet<>();
    private final Set<EmulatedStream> unmerged = new HashSet<>();
    private @Nullable String broken;
    private boolean open = true;

    Capture(EmulatedStream origin) {
        this.origin = origin;
    }

    synchronized boolean open() {
        return open;
    }

    /** Whether this thread began it: its calls that cannot be recorded break it. */
    boolean byThisThread() {
        return Thread.currentThread() == thread;
    }

    synchronized void add(EmulatedStream stream, Work work) {
        nodes.add(node(stream, work));
        if (stream != origin) {
            unmerged.add(stream);
        }
    }

    boolean begunBy(EmulatedStream stream) {
        return stream == origin;
    }

    /**
     * A stream waits for an event of this capture: its work is recorded too from now on, and that of the event's stream
     * is waited for.
     */
    synchronized void await(EmulatedStream stream, EmulatedEvent event) {
        if (stream != origin && joined.add(stream)) {
            stream.joinCapture(this);
            unmerged.add(stream);
        }
        EmulatedStream recorder = event.recorder();
        if (recorder != null && recorder != stream) {
            unmerged.remove(recorder);
        }
        nodes.add(node(stream, new Work.Wait(event, 0)));
    }

    private RecordedGraph.Node node(EmulatedStream stream, Work work) {
        return new RecordedGraph.Node(
                stream == origin ? 0 : numbers.computeIfAbsent(stream, _ -> numbers.size() + 1), work);
    }

    /** The capture is of no use any more. */
    synchronized CaptureException breakWith(String call) {
        if (broken == null) {
            broken = call;
        }
        return new CaptureException("emulator: " + call + " cannot be recorded; the capture is broken");
    }

    /** @throws CaptureException when it is broken, or some joined stream was not waited for */
    synchronized List<RecordedGraph.Node> end() {
        close();
        if (broken != null) {
            throw new CaptureException("emulator: the capture was broken by " + broken);
        }
        if (!unmerged.isEmpty()) {
            throw new CaptureException("emulator: the capture ended with work on " + unmerged.size()
                    + " other stream(s) that the first one does not wait for");
        }
        return List.copyOf(nodes);
    }

    synchronized void close() {
        open = false;
        joined.forEach(EmulatedStream::leaveCapture);
    }
}
