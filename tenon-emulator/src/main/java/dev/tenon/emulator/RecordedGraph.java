package dev.tenon.emulator;

import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import java.util.List;

/** Recorded work, in an order that keeps its dependencies. */
record RecordedGraph(EmulatedDevice device, List<RecordedGraph.Node> work) implements CapturedGraph {
    /**
     * A piece of work.
     *
     * @param stream the number of the stream it was recorded on; 0 is the one that began the capture
     */
    record Node(int stream, Work work) {}

    @Override
    public int nodes() {
        return (int) work.stream()
                .filter(node -> !(node.work instanceof Work.Mark || node.work instanceof Work.Wait))
                .count();
    }

    @Override
    public boolean allocates() {
        return false; // allocations break a capture
    }

    @Override
    public ExecutableGraph instantiate() {
        return new ReplayableGraph(device, work);
    }

    @Override
    public void close() {
        // nothing is held
    }
}
