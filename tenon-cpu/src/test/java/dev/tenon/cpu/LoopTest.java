package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.ir.op.searching.FirstOf;
import dev.tenon.core.ir.op.searching.NonZero;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.Await;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loops and searches as the runtime drives them: what is planned, and how often. */
class LoopTest {
    private static final Engine RUNTIME = Engine.open(Target.cpu());
    private static final TensorType COUNT = TensorType.of(DType.I64);
    private static final TensorType FLAG = TensorType.of(DType.BOOL);

    @AfterAll
    static void close() {
        RUNTIME.close();
    }

    private static Tensor count(long value) {
        return Tensor.of(new long[] {value});
    }

    private static void run(Graph graph, Consumer<CompiledModel> body) {
        try (CompiledModel model = RUNTIME.compile(graph)) {
            body.accept(model);
        }
    }

    private static Map<String, Tensor> once(CompiledModel model, Map<String, Tensor> inputs) {
        try (Session session = model.newSession()) {
            return session.run(inputs);
        }
    }

    /** x + x + ... as often as is said. */
    private static Graph doubled() {
        Graph body = GraphBuilder.build("body", g -> {
            g.input("i", COUNT);
            Value go = g.input("go", FLAG);
            Value state = g.input("state", DType.F32, Dim.named("n"));
            Value x = g.input("x", DType.F32, Dim.named("n"));
            Value next = g.add(state, x);
            g.output("go", go);
            g.output("state", next);
            g.output("each", next);
        });
        return GraphBuilder.build("doubled", g -> {
            Value times = g.input("times", COUNT);
            Value x = g.input("x", DType.F32, Dim.named("n"));
            Value zero = g.mul(x, g.scalar(DType.F32, 0));
            List<Value> results = g.addAll(new Loop(body, 1), List.of(times, flag(g), zero, x));
            g.output("sum", g.relu(results.get(0)));
            g.output("each", results.get(1));
            g.output("x", x);
        });
    }

    private static Value flag(GraphBuilder g) {
        return g.constant(NdArray.of(FLAG, 1L).toConstant());
    }

    @Test
    void aBodyIsPlannedOnceForAShape() {
        run(doubled(), model -> {
            for (long times : new long[] {1000, 7, 1, 33}) {
                Map<String, Tensor> results =
                        once(model, Map.of("times", count(times), "x", Tensor.of(new float[] {1, -1, 2}, 3)));
                assertThat(results.get("sum").toFloats()).containsExactly(times, 0, 2 * times);
                assertThat(results.get("each").shape().sizes()).containsExactly(times, 3);
                assertThat(results.get("each").getDouble(3 * times - 2)).isEqualTo(-times);
            }
            List<PlanReport> plans = model.report().plans();
            // before the loop, its body, and after it for each number of iterations, which is the size of what it
            // stacks
            assertThat(plans).hasSize(1 + 1 + 4);
            once(model, Map.of("times", count(2), "x", Tensor.of(new float[] {1, 2}, 2)));
            assertThat(model.report().plans()).hasSize(6 + 3);
        });
    }

    @Test
    void aLoopThatIsNeverEntered() {
        run(doubled(), model -> {
            Map<String, Tensor> results =
                    once(model, Map.of("times", count(-3), "x", Tensor.of(new float[] {1, 2, 3}, 3)));
            assertThat(results.get("sum").toFloats()).containsExactly(0, 0, 0);
            assertThat(results.get("each").shape().size(0)).isZero();
        });
    }

    /** A short loop of a known number is part of its plan; a long one is not written out. */
    @Test
    void shortLoopsAreUnrolled() {
        for (long times : new long[] {0, 1, 8, 9, 500}) {
            Graph body = GraphBuilder.build("body", g -> {
                Value i = g.input("i", COUNT);
                Value go = g.input("go", FLAG);
                Value state = g.input("state", COUNT);
                g.output("go", go);
                g.output("state", g.add(state, i));
            });
            Graph graph = GraphBuilder.build("known", g -> {
                Value state = g.input("state", COUNT);
                Value known = g.constant(NdArray.of(COUNT, times).toConstant());
                g.output(
                        "y",
                        g.addAll(new Loop(body, 1), List.of(known, flag(g), state))
                                .getFirst());
            });
            run(graph, model -> {
                assertThat(once(model, Map.of("state", count(5))).get("y").toLongs())
                        .containsExactly(5 + times * (times - 1) / 2);
                assertThat(model.report().plans()).hasSize(times <= 8 ? 1 : 3);
            });
        }
    }

    /** Collatz: how many steps to 1; a loop in a loop over many starts. */
    @Test
    void loopsNest() {
        Graph inner = GraphBuilder.build("inner", g -> {
            g.input("i", COUNT);
            g.input("go", FLAG);
            Value n = g.input("n", COUNT);
            Value steps = g.input("steps", COUNT);
            Value two = g.constant(NdArray.of(COUNT, 2L).toConstant());
            Value one = g.constant(NdArray.of(COUNT, 1L).toConstant());
            Value half = g.div(n, two);
            Value even = g.compare(CompareFn.EQ, g.mul(half, two), n);
            Value next = g.where(even, half, g.add(g.mul(n, g.add(two, one)), one));
            g.output("go", g.compare(CompareFn.NE, next, one));
            g.output("n", next);
            g.output("steps", g.add(steps, one));
        });
        Graph outer = GraphBuilder.build("outer", g -> {
            Value i = g.input("i", COUNT);
            Value go = g.input("go", FLAG);
            Value starts = g.input("starts", DType.I64, Dim.unknown());
            Value zero = g.constant(NdArray.of(COUNT, 0L).toConstant());
            Value most = g.constant(NdArray.of(COUNT, Long.MAX_VALUE).toConstant());
            Value start = g.gather(starts, i, 0);
            List<Value> results = g.addAll(new Loop(inner, 2), List.of(most, flag(g), start, zero));
            g.output("go", go);
            g.output("steps", results.get(1));
        });
        Graph graph = GraphBuilder.build("collatz", g -> {
            Value starts = g.input("starts", DType.I64, Dim.unknown());
            Value times = g.input("times", COUNT);
            g.output(
                    "y",
                    g.addAll(new Loop(outer, 0), List.of(times, flag(g), starts))
                            .getFirst());
        });
        run(
                graph,
                model -> assertThat(once(
                                        model,
                                        Map.of(
                                                "starts",
                                                Tensor.of(new long[] {2, 3, 6, 7, 27, 97}, 6),
                                                "times",
                                                count(6)))
                                .get("y")
                                .toLongs())
                        .containsExactly(1, 7, 8, 16, 111, 118));
    }

    @Test
    void faultsInABodyAreTheLoops() {
        Graph body = GraphBuilder.build("body", g -> {
            Value i = g.input("i", COUNT);
            Value go = g.input("go", FLAG);
            Value x = g.input("x", DType.F32, Dim.of(3));
            g.output("go", go);
            g.output("y", g.gather(x, i, 0));
        });
        Graph graph = GraphBuilder.build("faulty", g -> {
            Value x = g.input("x", DType.F32, Dim.of(3));
            Value times = g.input("times", COUNT);
            g.output(
                    "y", g.addAll(new Loop(body, 0), List.of(times, flag(g), x)).getFirst());
        });
        run(graph, model -> {
            Tensor x = Tensor.of(new float[] {1, 2, 3}, 3);
            assertThatThrownBy(() -> once(model, Map.of("x", x, "times", count(4))))
                    .isInstanceOf(DataException.class)
                    .hasMessageContaining("index 3 is out of range");
            assertThat(once(model, Map.of("x", x, "times", count(3))).get("y").toFloats())
                    .containsExactly(1, 2, 3);
        });
    }

    @Test
    @Timeout(60)
    void anEndlessLoopEndsWithItsThread() throws InterruptedException {
        Graph body = GraphBuilder.build("body", g -> {
            g.input("i", COUNT);
            Value go = g.input("go", FLAG);
            Value x = g.input("x", COUNT);
            g.output("go", go);
            g.output("x", g.add(x, x));
        });
        Graph graph = GraphBuilder.build("endless", g -> {
            Value x = g.input("x", COUNT);
            Value most = g.constant(NdArray.of(COUNT, Long.MAX_VALUE).toConstant());
            g.output("y", g.addAll(new Loop(body, 1), List.of(most, flag(g), x)).getFirst());
        });
        List<TenonException> thrown = new java.util.concurrent.CopyOnWriteArrayList<>();
        try (CompiledModel model = RUNTIME.compile(graph)) {
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    once(model, Map.of("x", count(1)));
                } catch (TenonException e) {
                    thrown.add(e);
                }
            });
            Await.until("a plan of the loop", () -> !model.report().plans().isEmpty());
            assertThat(thread.isAlive()).isTrue();
            thread.interrupt();
            thread.join();
        }
        assertThat(thrown).singleElement().satisfies(e -> assertThat(e).hasMessageContaining("interrupted after"));
    }

    /** What follows a search is planned for each number that was found. */
    @Test
    void whatIsFoundDecidesAboutShapes() {
        Graph graph = GraphBuilder.build("search", g -> {
            Value x = g.input("x", DType.F32, Dim.named("n"));
            g.output("found", g.add(new NonZero(), x));
            g.output("twice", g.add(x, x));
        });
        run(graph, model -> {
            for (int i = 0; i < 3; i++) {
                Map<String, Tensor> two = once(model, Map.of("x", Tensor.of(new float[] {0, 3, 0, i + 1}, 4)));
                assertThat(two.get("found").toLongs()).containsExactly(1, 3);
                assertThat(two.get("found").shape().sizes()).containsExactly(1, 2);
                Map<String, Tensor> none = once(model, Map.of("x", Tensor.of(new float[4], 4)));
                assertThat(none.get("found").shape().sizes()).containsExactly(1, 0);
            }
            assertThat(model.report().plans())
                    .as("the search, and a cut for two and for none")
                    .hasSize(3);
        });
    }

    @Test
    void aCountPastTheAxisIsRefused() {
        Graph graph = GraphBuilder.build("cut", g -> {
            Value x = g.input("x", DType.F32, Dim.of(3));
            g.output("y", g.add(new FirstOf(0), x, g.input("k", COUNT)));
        });
        run(
                graph,
                model -> assertThatThrownBy(() -> once(model, Map.of("x", Tensor.of(new float[3], 3), "k", count(4))))
                        .isInstanceOf(DataException.class)
                        .hasMessageContaining("count 4 for axis 0 of [3]; expected 0 to 3"));
    }
}
