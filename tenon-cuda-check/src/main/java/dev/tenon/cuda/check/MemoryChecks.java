package dev.tenon.cuda.check;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What a backend promises about memory: the cap, exhaustion, evicted plans, reports, bounds of copies. */
final class MemoryChecks {
    private MemoryChecks() {}

    static void outOfMemory(String backend) {
        Graph large = GraphBuilder.build("large", g -> {
            var x = g.input("x", TensorType.of(DType.F32, 1, 1));
            // a petabyte between the input and the one element that leaves
            var wide = g.expand(x, 1L << 24, 1L << 24);
            g.output("y", g.slice(g.slice(g.unary(UnaryFn.EXP, wide), 0, 0, 1), 1, 0, 1));
        });
        BackendModel model = new BackendModel();
        try (Engine runtime = BackendChecks.open(backend);
                CompiledModel usual = runtime.compile(model.graph(), Weights.none(), BackendChecks.STRICT);
                Session session = usual.newSession()) {
            model.check(session.run(model.inputs(5, 0)), 5, 0);
            long before = runtime.memory().total();
            for (int run = 0; run < 20; run++) {
                try (CompiledModel compiled = runtime.compile(
                                large,
                                Weights.none(),
                                BackendChecks.STRICT.withCompiler(
                                        BackendChecks.STRICT.compiler().withOptimise(false)));
                        Session failing = compiled.newSession()) {
                    BackendChecks.thrown(
                            OutOfMemoryException.class,
                            () -> failing.run(Map.of("x", Tensor.of(new float[] {1}, 1, 1))));
                }
                model.check(session.run(model.inputs(5, run)), 5, run);
                BackendChecks.require(runtime.memory().total() == before, "nothing lost: " + runtime.memory());
            }
        }
    }

    static void cap(String backend) {
        BackendModel model = new BackendModel();
        long needed;
        try (Engine runtime = BackendChecks.open(backend);
                CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), BackendChecks.STRICT);
                Session session = compiled.newSession()) {
            // without what algorithms are timed in
            runtime.settle(() -> model.check(session.run(model.inputs(64, 0)), 64, 0), Duration.ofSeconds(30));
            needed = runtime.memory().total();
        }
        EngineOptions enough = EngineOptions.defaults().withMemoryLimit(needed);
        try (Engine runtime = Engine.open(Target.parse(backend), enough);
                CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), BackendChecks.STRICT);
                Session session = compiled.newSession()) {
            model.check(session.run(model.inputs(64, 0)), 64, 0);
            TenonException error =
                    BackendChecks.thrown(OutOfMemoryException.class, () -> session.run(model.inputs(6400, 0)));
            BackendChecks.require(error.toString().contains(Long.toString(needed)), "names the limit: " + error);
            model.check(session.run(model.inputs(64, 1)), 64, 1);
        }
    }

    static void ranges(String backend) {
        try (GpuContext context = GpuPlatforms.named(backend).driver().open(0);
                GpuStream stream = context.newStream();
                DeviceBuffer small = context.allocate(16);
                DeviceBuffer large = context.allocate(64)) {
            stream.fill(small, 0, 16, (byte) 7);
            MemorySegment host = MemorySegment.ofArray(new byte[17]);
            List<Runnable> refused = List.of(
                    () -> stream.copyToDevice(host, small, 0),
                    () -> stream.copyToDevice(host.asSlice(0, 8), small, 9),
                    () -> stream.copyToDevice(host.asSlice(0, 8), small, -1),
                    () -> stream.copyToHost(small, 0, host),
                    () -> stream.copyToHost(small, Long.MAX_VALUE, host),
                    () -> stream.copy(large, 0, small, 0, 17),
                    () -> stream.copy(small, 1, large, 0, 16),
                    () -> stream.copy(small, 0, large, 0, -1),
                    () -> stream.fill(small, 8, 9, (byte) 1));
            for (Runnable call : refused) {
                TenonException error = BackendChecks.thrown(InputException.class, call);
                BackendChecks.require(
                        error.toString().contains("not within a buffer of 16 bytes"), "names the buffer: " + error);
            }
            byte[] left = new byte[16];
            stream.copyToHost(small, 0, MemorySegment.ofArray(left));
            for (byte value : left) {
                BackendChecks.require(value == 7, "the buffer is as it was: " + Arrays.toString(left));
            }
        }
    }

    /** One plan is kept, so that each other shape evicts it. */
    static void evicted(String backend) {
        BackendModel model = new BackendModel();
        CompileOptions options =
                BackendChecks.STRICT.withExecution(Execution.graph()).withMaxPlans(1);
        try (Engine runtime = BackendChecks.open(backend);
                CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), options);
                Session session = compiled.newSession()) {
            for (int round = 0; round < 6; round++) {
                long rows = 9L - round % 3;
                for (int run = 0; run < 3; run++) {
                    model.check(session.run(model.inputs(rows, run)), rows, run);
                }
            }
        }
    }

    /** The driver counts in blocks of its own, 2 MiB each where an allocation is large. */
    static void driverAgrees(String backend) {
        BackendModel model = new BackendModel();
        long rounding = 8L << 20;
        try (GpuContext driver = GpuPlatforms.named(backend).driver().open(0);
                Engine runtime = BackendChecks.open(backend);
                CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), BackendChecks.STRICT)) {
            long rows = 150_000;
            try (Session session = compiled.newSession()) {
                session.run(model.inputs(8, 0)); // loads kernels and libraries
                compiled.plan(Map.of("rows", rows)); // and those of the large plan
                long free = driver.memoryInfo().free();
                long held = runtime.memory().total();
                session.run(model.inputs(rows, 0));
                long taken = free - driver.memoryInfo().free();
                long reported = runtime.memory().total() - held;
                BackendChecks.require(
                        reported > 3 * rounding && Math.abs(taken - reported) <= rounding,
                        "reported " + reported + " bytes more; the driver gave " + taken);
            }
        }
    }
}
