package dev.tenon.cuda.check;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;

/**
 * JV-01: a caller's memory may go as soon as a call has returned, closed with its arena or left to the collector; the
 * device has read it by then.
 */
final class InputLifetimeChecks {
    /** 16 MiB, more than what goes through a few pinned pieces at once. */
    private static final long ELEMENTS = 1 << 22;

    private static final TensorType TYPE = TensorType.of(DType.F32, ELEMENTS);

    private InputLifetimeChecks() {}

    static void run(String backend) {
        Graph graph = GraphBuilder.build("sum", g -> {
            Value x = g.input("x", TYPE);
            g.output("y", g.reduce(ReduceFn.SUM, g.add(x, x), false, 0));
        });
        try (Engine runtime = Engine.open(Target.parse(backend));
                CompiledModel model = runtime.compile(graph);
                Session session = model.newSession()) {
            for (int round = 0; round < 3; round++) {
                Map<String, Tensor> result;
                try (Arena arena = Arena.ofShared()) {
                    result = session.runOnDevice(Map.of("x", ones(arena)));
                } // closed before anything is read
                overwrite();
                check(result.values().iterator().next(), "an arena closed after a run");
                result.values().forEach(Tensor::close);

                Tensor uploaded;
                try (Arena arena = Arena.ofShared()) {
                    uploaded = runtime.upload(ones(arena));
                }
                overwrite();
                Tensor sum =
                        session.run(Map.of("x", uploaded)).values().iterator().next();
                uploaded.close();
                check(sum, "an arena closed after an upload");

                Tensor dropped = runtime.upload(ones(Arena.ofAuto()));
                System.gc();
                overwrite();
                check(session.run(Map.of("x", dropped)).values().iterator().next(), "memory left to the collector");
                dropped.close();
            }
        }
    }

    private static Tensor ones(Arena arena) {
        Tensor ones = Tensor.allocate(arena, TYPE);
        for (long i = 0; i < ELEMENTS; i++) {
            ones.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
        }
        return ones;
    }

    /** Takes memory of the same sizes, in the hope of the same places, and fills it with something else. */
    private static void overwrite() {
        try (Arena arena = Arena.ofConfined()) {
            for (MemorySegment piece : List.of(arena.allocate(TYPE.bytes(), 64), arena.allocate(TYPE.bytes(), 64))) {
                piece.fill((byte) 0x7f);
            }
        }
    }

    private static void check(Tensor sum, String what) {
        BackendChecks.require(
                sum.getDouble(0) == 2.0 * ELEMENTS, what + ": the sum is " + sum + ", expected " + 2.0 * ELEMENTS);
    }
}
