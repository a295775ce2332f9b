package dev.tenon.emulator;

import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import java.util.List;

/** Recorded work, in an order that keeps its dependencies. */
record RecordedGraph(List<Work> work) implements CapturedGraph {
    @Override
    public int nodes() {
        return (int) work.stream()
                .filter(node -> !(node instanceof Work.Mark || node instanceof Work.Wait))
                .count();
    }

    @Override
    public boolean allocates() {
        return false; // allocations break a capture
    }

    @Override
    public ExecutableGraph instantiate() {
        return new ReplayableGraph(work);
    }

    @Override
    public void close() {
        // nothing is held
    }
}
