package dev.tenon.cuda.driver;

import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.nativelib.cuda.CuGraph;
import dev.tenon.nativelib.cuda.CuStatus;
import dev.tenon.nativelib.cuda.CuStructs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A graph ready to be launched. */
final class CudaExecutableGraph extends Owned implements ExecutableGraph {
    private final long handle;
    private final int nodes;

    CudaExecutableGraph(CudaContext context, long handle, int nodes) {
        super(context);
        this.handle = handle;
        this.nodes = nodes;
    }

    long handle() {
        requireOpen();
        return handle;
    }

    int nodes() {
        return nodes;
    }

    @Override
    public boolean update(CapturedGraph newer) {
        if (!(newer instanceof CudaGraph graph) || graph.primary != primary) {
            throw new InputException(primary.name() + ": the newer capture is of another device");
        }
        Capturing.refuse("cuGraphExecUpdate()");
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(CuStructs.GRAPH_UPDATE_RESULT_BYTES, Long.BYTES);
            int status = CuGraph.cuGraphExecUpdate(handle, graph.handle(), result.address());
            if (status == CuStatus.GRAPH_EXEC_UPDATE_FAILURE) {
                return false;
            }
            primary.check(status, "cuGraphExecUpdate(%d nodes)", nodes);
            return true;
        } finally {
            exit();
        }
    }

    @Override
    String kind() {
        return "executable graph";
    }

    @Override
    void destroy() {
        primary.check(CuGraph.cuGraphExecDestroy(handle), "cuGraphExecDestroy()");
    }
}
