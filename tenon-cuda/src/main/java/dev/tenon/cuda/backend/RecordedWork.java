package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A program's work recorded stretch by stretch, all streams of a stretch in one graph: host steps stay between the
 * stretches and are done anew at each replay. Used by one thread at a time.
 */
final class RecordedWork implements AutoCloseable {
    private static final long NODE_BYTES = 4096;

    /** What is recorded with a program's steps: copies of inputs before them and of results behind. */
    interface Edges {
        /** No copies. */
        Edges NONE = new Edges() {
            @Override
            public void before() {}

            @Override
            public void behind() {}
        };

        void before();

        void behind();
    }

    private final GpuProgram program;
    private final LaneFrames frames;
    private final Edges edges;
    /** By stretch of the program; null for one that is not recorded. */
    private final List<@Nullable ExecutableGraph> graphs = new ArrayList<>();
    /** Nodes of all graphs. */
    private long nodes;

    /** What the next graph is made of, until it is made. */
    private @Nullable CapturedGraph captured;

    /** @param edges of a program that is recorded as a whole */
    RecordedWork(GpuProgram program, LaneFrames frames, Edges edges) {
        this.program = program;
        this.frames = frames;
        this.edges = edges;
    }

    /** Whether every stretch is there; not where recording one has failed. */
    boolean complete() {
        return captured == null && graphs.size() == program.stretches().size();
    }

    /**
     * Records every stretch that can be; nothing runs.
     *
     * @param recording held meanwhile
     */
    void record(Lock recording) {
        for (Stretch stretch : program.stretches()) {
            graphs.add(stretch.recorded() ? record(stretch, recording) : null);
        }
    }

    private ExecutableGraph record(Stretch stretch, Lock recording) {
        GpuStream stream = frames.stream();
        recording.lock();
        try {
            stream.beginCapture();
            try {
                edges.before();
                program.enqueue(frames, stretch);
                edges.behind();
            } catch (RuntimeException | Error e) {
                Closing.after(e, stream::abortCapture);
                throw e;
            }
            captured = stream.endCapture();
        } finally {
            recording.unlock();
        }
        nodes += captured.nodes();
        ExecutableGraph graph = captured.instantiate();
        try {
            closeCaptured();
        } catch (RuntimeException | Error e) {
            graphs.add(graph); // to be closed with the others
            throw e;
        }
        return graph;
    }

    /** What it takes of the host and the device together, by an estimate: the driver does not tell. */
    long bytes() {
        return NODE_BYTES * nodes;
    }

    /** Enqueues all the work. */
    void replay() {
        for (int i = 0; i < graphs.size(); i++) {
            ExecutableGraph graph = graphs.get(i);
            if (graph == null) {
                program.enqueue(frames, program.stretches().get(i));
                continue;
            }
            long range = StepRanges.beginReplay();
            try {
                frames.stream().launch(graph);
            } finally {
                StepRanges.end(range);
            }
        }
    }

    private void closeCaptured() {
        if (captured != null) {
            captured.close();
            captured = null;
        }
    }

    /** Idempotent; a close that failed may be called again and goes on where it ended. */
    @Override
    public void close() {
        Closing closing = new Closing();
        graphs.removeIf(graph -> graph == null);
        closing.each(graphs, ExecutableGraph::close);
        closing.step(this::closeCaptured);
        closing.end();
    }
}
