package dev.tenon.emulator;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A graph that streams run. Thread-safe. */
final class ReplayableGraph implements ExecutableGraph {
    private final EmulatedDevice device;
    /** Of the streams beside the first, by number - 1; each is null where the order is not checked. */
    private final List<@Nullable OrderClock> clocks = new ArrayList<>();

    private List<RecordedGraph.Node> work;
    private boolean closed;

    ReplayableGraph(EmulatedDevice device, List<RecordedGraph.Node> work) {
        this.device = device;
        this.work = work;
    }

    /** The clock of one of the streams that the work was recorded on, where the first is that of the replay. */
    synchronized @Nullable OrderClock clock(int stream, @Nullable OrderClock first) {
        if (stream == 0 || first == null) {
            return first;
        }
        while (clocks.size() < stream) {
            clocks.add(device.newClock());
        }
        return clocks.get(stream - 1);
    }

    static ReplayableGraph of(ExecutableGraph graph) {
        if (graph instanceof ReplayableGraph own) {
            return own;
        }
        throw new NativeException(
                "emulator: a graph of another platform: " + graph.getClass().getName());
    }

    synchronized List<RecordedGraph.Node> work() {
        if (closed) {
            throw new ClosedException("the graph is closed");
        }
        return work;
    }

    @Override
    public synchronized boolean update(CapturedGraph newer) {
        List<RecordedGraph.Node> now = work();
        if (!(newer instanceof RecordedGraph(EmulatedDevice _, List<RecordedGraph.Node> next))
                || next.size() != now.size()) {
            return false;
        }
        for (int i = 0; i < next.size(); i++) {
            if (now.get(i).stream() != next.get(i).stream()
                    || !now.get(i).work().like(next.get(i).work())) {
                return false;
            }
        }
        work = next;
        return true;
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
