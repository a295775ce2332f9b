package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Models, sessions and plans: what they hold, what they share, how they end. */
final class ModelLifeTest {
    /** y = x w over named rows. */
    private static final Graph LINEAR = GraphBuilder.build("linear", g -> {
        Value x = g.input("x", DType.F32, Dim.named("rows"), Dim.of(3));
        g.output("y", g.matmul(x, g.parameter("w", DType.F32, 3, 2)));
    });

    private static final Weights W = Weights.of("w", Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 3, 2));

    private static Map<String, Tensor> rows(int count) {
        float[] values = new float[3 * count];
        for (int i = 0; i < values.length; i++) {
            values[i] = i % 5;
        }
        return Map.of("x", Tensor.of(values, count, 3));
    }

    @Test
    void aNewShapeCostsAPlanAndNothingElse() {
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model = runtime.compile(LINEAR, W, CompileOptions.defaults());
                Session session = model.newSession()) {
            assertThat(session.run(rows(1)).get("y").toFloats()).containsExactly(13, 16);
            long weights = model.report().weightBytes();
            assertThat(session.run(rows(2)).get("y").toFloats()).containsExactly(13, 16, 15, 22);
            assertThat(session.run(rows(2)).get("y").toFloats()).containsExactly(13, 16, 15, 22);
            assertThat(model.report().plans()).hasSize(2);
            assertThat(model.report().weightBytes()).isEqualTo(weights);
        }
    }

    @Test
    void theLeastRecentlyUsedPlanGoes() {
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model =
                        runtime.compile(LINEAR, W, CompileOptions.defaults().withMaxPlans(2));
                Session session = model.newSession()) {
            for (int count : new int[] {1, 2, 1, 3, 4, 1}) {
                assertThat(session.run(rows(count)).get("y").shape().size(0)).isEqualTo(count);
            }
            assertThat(model.report().plans()).hasSize(2);
        }
    }

    @Test
    void aheadOfTimeMakesThePlansOfTheProfile() {
        CompileOptions options =
                CompileOptions.defaults().withAheadOfTime(ShapeProfile.none().with("rows", 1, 4, 16));
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model = runtime.compile(LINEAR, W, options)) {
            assertThat(model.report().plans()).hasSize(2);
            assertThat(model.report().plans().getFirst().inputs()).containsExactly("x: f32[4,3]");
        }
    }

    @Test
    void closingGivesTheMemoryBack() {
        try (Engine runtime = Engine.open(Target.cpu())) {
            CompiledModel model = runtime.compile(LINEAR, W, CompileOptions.defaults());
            Session session = model.newSession();
            Tensor y = session.run(rows(64)).get("y");
            assertThat(runtime.memory().total()).isPositive();
            model.close();
            model.close();
            assertThat(runtime.memory().total()).isZero();
            assertThat(y.toFloats()).as("outputs outlive the session").startsWith(13, 16);
            assertThatThrownBy(() -> session.run(rows(1))).isInstanceOf(ClosedException.class);
            assertThatThrownBy(model::newSession).isInstanceOf(ClosedException.class);
            session.close();
        }
    }

    @Test
    void wrongInputsAreNamed() {
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model = runtime.compile(LINEAR, W, CompileOptions.defaults());
                Session session = model.newSession()) {
            assertThatThrownBy(() -> session.run(Map.of()))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("\"x\"")
                    .hasMessageContaining("f32[rows,3]");
            assertThatThrownBy(() -> session.run(Map.of("x", Tensor.zeros(DType.F64, 1, 3))))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("expected f32[rows,3], got f64[1,3]");
            assertThatThrownBy(() -> session.run(Map.of("x", Tensor.zeros(DType.F32, 1, 4))))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("got f32[1,4]");
            assertThatThrownBy(
                            () -> session.run(Map.of("x", Tensor.zeros(DType.F32, 1, 3), "z", Tensor.zeros(DType.F32))))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("[z]");
            assertThatThrownBy(() -> runtime.compile(LINEAR))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("\"w\"");
            assertThatThrownBy(() -> runtime.compile(
                            LINEAR, Weights.of("w", Tensor.zeros(DType.F32, 2, 2)), CompileOptions.defaults()))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("f32[2,2]");
        }
    }

    @Test
    void namedDimsAgreeAcrossInputs() {
        Graph graph = GraphBuilder.build("sum", g -> {
            Value a = g.input("a", DType.F32, Dim.named("n"));
            g.output("y", g.add(a, g.input("b", DType.F32, Dim.named("n"))));
        });
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model = runtime.compile(graph);
                Session session = model.newSession()) {
            assertThatThrownBy(
                            () -> session.run(Map.of("a", Tensor.zeros(DType.F32, 3), "b", Tensor.zeros(DType.F32, 1))))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("n = 3");
        }
    }

    /** The branch and then the shape depend on values of the run: three plans in a row, each cached by those values. */
    @Test
    void branchesAndShapesMayHangOnData() {
        Graph flat = GraphBuilder.build(
                "flat",
                g -> g.output(
                        "y",
                        g.add(
                                new ReshapeTo(false),
                                g.input("v", DType.F32, Dim.of(2), Dim.of(3)),
                                g.constant(NdArray.ofLongs(6).toConstant()))));
        Graph twice = GraphBuilder.build(
                "twice",
                g -> g.output("y", g.add(g.input("v", DType.F32, Dim.of(2), Dim.of(3)), g.scalar(DType.F32, 100))));
        Graph graph = GraphBuilder.build("data", g -> {
            Value x = g.input("x", DType.F32, Dim.of(2), Dim.of(3));
            Value positive = g.compare(CompareFn.GT, g.reduce(ReduceFn.SUM, x, false, 0, 1), g.scalar(DType.F32, 0));
            Value chosen = g.add(new If(flat, twice), positive, x);
            g.output("shape", g.add(new ShapeOf(0, Long.MAX_VALUE), chosen));
            g.output("y", g.relu(chosen));
            g.output("early", g.unary(dev.tenon.core.ir.fn.UnaryFn.NEG, x));
        });
        Tensor up = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
        Tensor down = Tensor.of(new float[] {-1, -2, -3, -4, -5, -6}, 2, 3);
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model = runtime.compile(graph);
                Session session = model.newSession()) {
            for (int i = 0; i < 3; i++) {
                Map<String, Tensor> first = session.run(Map.of("x", up));
                assertThat(first.keySet()).containsExactly("shape", "y", "early");
                assertThat(first.get("shape").toLongs()).containsExactly(6);
                assertThat(first.get("y").toFloats()).containsExactly(1, 2, 3, 4, 5, 6);
                assertThat(first.get("early").toFloats()).containsExactly(-1, -2, -3, -4, -5, -6);
                Map<String, Tensor> second = session.run(Map.of("x", down));
                assertThat(second.get("shape").toLongs()).containsExactly(2, 3);
                assertThat(second.get("y").toFloats()).containsExactly(99, 98, 97, 96, 95, 94);
            }
            assertThat(model.report().plans())
                    .as("the condition, and what follows either outcome")
                    .hasSize(3);
        }
    }

    @Test
    void manyThreadsShareAModel() throws Exception {
        try (Engine runtime = Engine.open(Target.cpu());
                CompiledModel model = runtime.compile(LINEAR, W, CompileOptions.defaults());
                Session shared = model.newSession();
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<Boolean>> results = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int seed = thread;
                Callable<Boolean> work = () -> {
                    try (Session own = model.newSession()) {
                        for (int i = 0; i < 100; i++) {
                            int count = 1 + (seed + i) % 20;
                            Session session = i % 2 == 0 ? own : shared;
                            float[] y = session.run(rows(count)).get("y").toFloats();
                            if (y.length != 2 * count || y[0] != 13 || y[1] != 16) {
                                return false;
                            }
                        }
                    }
                    return true;
                };
                results.add(threads.submit(work));
            }
            for (Future<Boolean> result : results) {
                assertThat(result.get()).isTrue();
            }
            assertThat(model.report().plans()).hasSize(20);
        }
    }

    @Test
    void closingWaitsForRunsInFlight() throws Exception {
        for (int round = 0; round < 10; round++) {
            Engine runtime = Engine.open(Target.cpu());
            CompiledModel model = runtime.compile(LINEAR, W, CompileOptions.defaults());
            AtomicBoolean wrong = new AtomicBoolean();
            AtomicInteger runs = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try (Session session = model.newSession()) {
                        while (true) {
                            float[] y = session.run(rows(200)).get("y").toFloats();
                            wrong.compareAndSet(false, y[0] != 13 || y[1] != 16);
                            runs.incrementAndGet();
                        }
                    } catch (ClosedException e) {
                        // as it should end
                    } catch (RuntimeException e) {
                        wrong.set(true);
                    }
                }));
            }
            int before = 10 * round;
            Await.until(before + " runs", () -> runs.get() >= before);
            runtime.close();
            for (Thread thread : threads) {
                thread.join(10_000);
                assertThat(thread.isAlive()).isFalse();
            }
            assertThat(wrong).isFalse();
        }
    }

    @Test
    void devicesAndTargetsExplainThemselves() {
        assertThat(Target.devices()).isNotEmpty();
        assertThat(Target.best().reason()).isNotEmpty();
        assertThat(Target.parse("cpu")).isEqualTo(Target.cpu());
        assertThat(Target.parse("cuda:1")).isEqualTo(Target.cuda(1));
        assertThatThrownBy(() -> Target.parse("gpu 1"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("cuda:N");
        assertThat(TensorType.of(DType.F32, 2)).hasToString("f32[2]");
    }
}
