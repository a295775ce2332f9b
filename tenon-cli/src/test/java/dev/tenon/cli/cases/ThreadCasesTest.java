package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class ThreadCasesTest {
    private static final Graph PLUS_ONE = GraphBuilder.build("plus one", g -> {
        var x = g.input("x", DType.F32, Dim.named("n"));
        g.output("y", g.add(x, g.scalar(DType.F32, 1)));
    });

    private static Engine runtime;
    private static CompiledModel model;

    @BeforeAll
    static void open() {
        runtime = Engine.open(Cpu.DEVICE, EngineOptions.defaults().withThreads(2));
        model = runtime.compile(PLUS_ONE);
    }

    @AfterAll
    static void close() {
        model.close();
        assertThat(runtime.memory().total()).as("bytes held after close").isZero();
        runtime.close();
    }

    private static void runs(Session session, int number, int times) {
        for (int i = 0; i < times; i++) {
            int size = 1 + (number + i) % 5;
            double[] x = new double[size];
            java.util.Arrays.fill(x, number);
            Tensor y = session.run(Map.of("x", f32(x))).get("y");
            assertThat(y.toDoubles()).hasSize(size).containsOnly(number + 1.0);
        }
    }

    private static void all(ExecutorService executor, List<Callable<Void>> tasks)
            throws InterruptedException, ExecutionException {
        for (Future<Void> future : executor.invokeAll(tasks)) {
            future.get();
        }
    }

    @Test
    @DisplayName("TH-01 sessions made here, run on 8 platform threads and on the common pool")
    void platformThreads() throws Exception {
        List<Session> sessions = new ArrayList<>();
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            Session session = model.newSession();
            sessions.add(session);
            tasks.add(() -> {
                runs(session, number, 200);
                return null;
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            all(threads, tasks);
        }
        all(ForkJoinPool.commonPool(), tasks);
        sessions.forEach(Session::close);
    }

    @Test
    @DisplayName("TH-01 1000 virtual threads that sleep between runs, some sharing a session")
    void virtualThreads() throws Exception {
        try (Session shared = model.newSession();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                int number = i;
                tasks.add(() -> {
                    try (Session own = model.newSession()) {
                        for (int run = 0; run < 3; run++) {
                            runs(number % 4 == 0 ? shared : own, number, 1);
                            Thread.sleep(1); // what the case is about: the thread lets go of its carrier
                        }
                    }
                    return null;
                });
            }
            all(threads, tasks);
        }
    }

    @Test
    @DisplayName("TH-01 a confined tensor on another thread is a clear error, and the session goes on")
    void confinedTensor() throws Exception {
        try (Arena arena = Arena.ofConfined();
                Session session = model.newSession();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            for (long size : new long[] {3, 1 << 20}) {
                Tensor confined = Tensor.allocate(arena, TensorType.of(DType.F32, size));
                Future<?> run = other.submit(() -> session.run(Map.of("x", confined)));
                assertThatThrownBy(run::get)
                        .cause()
                        .isInstanceOf(TenonException.class)
                        .hasMessageContainingAll("\"x\"", "thread");
                // the owner may use it, whichever workers take part
                assertThat(session.run(Map.of("x", confined)).get("y").getDouble(size - 1))
                        .isEqualTo(1);
            }
            runs(session, 5, 3);
        }
    }

    @Test
    @DisplayName("TH-01 weights of a confined arena serve every thread, and only their owner compiles them")
    void confinedWeights() throws Exception {
        Graph graph = GraphBuilder.build("weighted", g -> {
            var x = g.input("x", DType.F32, Dim.named("n"));
            g.output("y", g.add(x, g.parameter("w", DType.F32, 1)));
        });
        try (Arena arena = Arena.ofConfined();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            Tensor confined = Tensor.allocate(arena, TensorType.of(DType.F32, 1));
            Weights weights = Weights.of("w", confined);
            Future<?> compile = other.submit(() -> runtime.compile(graph, weights, CompileOptions.defaults()));
            assertThatThrownBy(compile::get)
                    .cause()
                    .isInstanceOf(TenonException.class)
                    .hasMessageContainingAll("\"w\"", "thread");
            try (CompiledModel compiled = runtime.compile(graph, weights, CompileOptions.defaults());
                    Session session = compiled.newSession()) {
                Future<Map<String, Tensor>> run = other.submit(() -> session.run(Map.of("x", f32(1, 2, 3))));
                assertThat(run.get().get("y").toDoubles()).containsExactly(1, 2, 3);
            }
        }
    }

    @Test
    @DisplayName("TH-01 a tensor whose arena is closed is a clear error")
    void closedArena() {
        Tensor gone;
        try (Arena arena = Arena.ofShared()) {
            gone = Tensor.allocate(arena, TensorType.of(DType.F32, 3));
        }
        try (Session session = model.newSession()) {
            assertThatThrownBy(() -> session.run(Map.of("x", gone)))
                    .isInstanceOf(TenonException.class)
                    .hasMessageContainingAll("\"x\"", "closed");
            runs(session, 5, 3);
        }
    }
}
