package dev.tenon.core.runtime;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.tensor.Tensor;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Takes a runtime of a backend through the life of a small model, once in a process: compiling, planning, running,
 * closing. What the JVM initialises and links on first use is so initialised and linked when a device is opened, where
 * {@link dev.tenon.core.lazy.Headroom} has made sure that there is memory, and not later, when the heap may be full: a
 * failure then would be for the rest of the process.
 */
final class Rehearsal {
    private static final Set<String> DONE = ConcurrentHashMap.newKeySet();

    private Rehearsal() {}

    /** Rehearses on a runtime that was opened a moment ago. */
    static void once(Engine runtime) {
        String backend = runtime.target().backend();
        if (DONE.contains(backend)) {
            return;
        }
        Graph graph = GraphBuilder.build("rehearsal", g -> {
            Value x = g.input("x", DType.F32, Dim.named("rows"), Dim.of(2));
            g.output("y", g.reshape(x, -1)); // a copy: every backend has code for it
        });
        // ahead of time: its plans are saved, so that only the first process asks a compiler
        CompileOptions options =
                CompileOptions.defaults().withAheadOfTime(ShapeProfile.none().withSizes(Map.of("rows", 1L)));
        try (CompiledModel model = runtime.compile(graph, options);
                Session session = model.newSession()) {
            for (int rows = 1; rows <= 2; rows++) {
                session.run(Map.of("x", Tensor.of(new float[2 * rows], rows, 2)))
                        .values()
                        .forEach(Tensor::close);
            }
        }
        DONE.add(backend);
    }
}
