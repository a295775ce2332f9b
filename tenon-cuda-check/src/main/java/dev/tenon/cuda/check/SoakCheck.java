package dev.tenon.cuda.check;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Many runs of many shapes by many threads over a few sessions: results stay right, and device memory stays as it is
 * after the first round.
 */
public final class SoakCheck {
    private static final int SESSIONS = 4;
    private static final int THREADS = 8;

    private SoakCheck() {}

    /**
     * Runs it.
     *
     * @param shapes how many different ones
     * @return the driver's free bytes after the first round and at the end
     * @throws AssertionError when a result is wrong or memory grows
     */
    public static long[] run(String backend, Execution execution, int runs, int shapes) {
        BackendModel model = new BackendModel();
        CompileOptions options =
                CompileOptions.defaults().withPrecision(Precision.STRICT).withExecution(execution);
        try (GpuContext driver = GpuPlatforms.named(backend).driver().open(0);
                Engine runtime = Engine.open(Target.parse(backend));
                CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), options);
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Session> sessions = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                sessions.add(compiled.newSession());
            }
            // each session meets each shape twice, so that it has recorded it as well
            for (int round = 0; round < 2; round++) {
                for (Session session : sessions) {
                    for (int shape = shapes - 1; shape >= 0; shape--) {
                        model.check(session.run(model.inputs(rows(shape), round)), rows(shape), round);
                    }
                }
            }
            MemoryReport warm = runtime.memory();
            long freeWhenWarm = driver.memoryInfo().free();
            AtomicInteger next = new AtomicInteger();
            List<Future<?>> workers = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                workers.add(threads.submit(() -> {
                    for (int run = next.getAndIncrement(); run < runs; run = next.getAndIncrement()) {
                        long rows = rows(run * 7 % shapes);
                        Session session = sessions.get(run % SESSIONS);
                        model.check(session.run(model.inputs(rows, run % 5)), rows, run % 5);
                    }
                }));
            }
            await(workers);
            long freeAtEnd = driver.memoryInfo().free();
            BackendChecks.require(
                    runtime.memory().equals(warm), "memory moved from " + warm + " to " + runtime.memory());
            BackendChecks.require(
                    freeAtEnd >= freeWhenWarm,
                    "the driver has " + freeAtEnd + " bytes free after the runs, " + freeWhenWarm + " before them");
            return new long[] {freeWhenWarm, freeAtEnd};
        }
    }

    private static long rows(int shape) {
        return 1 + 3L * shape;
    }

    private static void await(List<Future<?>> workers) {
        try {
            for (Future<?> worker : workers) {
                worker.get();
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError("a run failed", e);
        }
    }
}
