package dev.tenon.cuda.driver;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuGraph;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Recorded work. */
final class CudaGraph extends Owned implements CapturedGraph {
    private final long handle;
    private final int nodes;
    private final boolean allocates;

    /** Within a section of the stream that recorded it. */
    CudaGraph(CudaContext context, long handle) {
        super(context);
        this.handle = handle;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(ValueLayout.JAVA_LONG);
            primary.check(CuGraph.cuGraphGetNodes(handle, 0, count.address()), "cuGraphGetNodes()");
            nodes = SizeMath.toInt("graph nodes", count.get(ValueLayout.JAVA_LONG, 0));
            MemorySegment all = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, nodes));
            if (nodes > 0) {
                primary.check(CuGraph.cuGraphGetNodes(handle, all.address(), count.address()), "cuGraphGetNodes()");
            }
            MemorySegment type = arena.allocate(ValueLayout.JAVA_INT);
            boolean found = false;
            for (int i = 0; i < nodes; i++) {
                primary.check(
                        CuGraph.cuGraphNodeGetType(all.getAtIndex(ValueLayout.JAVA_LONG, i), type.address()),
                        "cuGraphNodeGetType()");
                int kind = type.get(ValueLayout.JAVA_INT, 0);
                found |= kind == CuConstants.GRAPH_NODE_TYPE_MEM_ALLOC || kind == CuConstants.GRAPH_NODE_TYPE_MEM_FREE;
            }
            allocates = found;
        }
    }

    long handle() {
        requireOpen();
        return handle;
    }

    @Override
    public int nodes() {
        return nodes;
    }

    @Override
    public boolean allocates() {
        return allocates;
    }

    @Override
    public ExecutableGraph instantiate() {
        Capturing.refuse("cuGraphInstantiate()");
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment executable = arena.allocate(ValueLayout.JAVA_LONG);
            primary.check(
                    CuGraph.cuGraphInstantiateWithFlags(executable.address(), handle, 0),
                    "cuGraphInstantiateWithFlags(%d nodes)",
                    nodes);
            return context.adopt(new CudaExecutableGraph(context, executable.get(ValueLayout.JAVA_LONG, 0), nodes));
        } finally {
            exit();
        }
    }

    @Override
    String kind() {
        return "graph";
    }

    @Override
    void destroy() {
        primary.check(CuGraph.cuGraphDestroy(handle), "cuGraphDestroy()");
    }
}
