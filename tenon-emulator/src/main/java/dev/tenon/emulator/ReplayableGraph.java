package dev.tenon.emulator;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import java.util.List;

/** A graph that streams run. Thread-safe. */
final class ReplayableGraph implements ExecutableGraph {
    private List<Work> work;
    private boolean closed;

    ReplayableGraph(List<Work> work) {
        this.work = work;
    }

    static ReplayableGraph of(ExecutableGraph graph) {
        if (graph instanceof ReplayableGraph own) {
            return own;
        }
        throw new NativeException(
                "emulator: a graph of another platform: " + graph.getClass().getName());
    }

    synchronized List<Work> work() {
        if (closed) {
            throw new ClosedException("the graph is closed");
        }
        return work;
    }

    @Override
    public synchronized boolean update(CapturedGraph newer) {
        List<Work> now = work();
        if (!(newer instanceof RecordedGraph(List<Work> next)) || next.size() != now.size()) {
            return false;
        }
        for (int i = 0; i < next.size(); i++) {
            if (!now.get(i).like(next.get(i))) {
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
