package dev.tenon.cpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs that want some outputs alone, and runs into tensors of the caller. */
class OutputsTest {
    /** y = 2x; z = x + 1; w = the indices of x's elements that are not 0, which ends a plan. */
    private static final Graph GRAPH = GraphBuilder.build("outputs", g -> {
        Value x = g.input("x", DType.F32, Dim.named("n"));
        g.output("y", g.mul(x, 2));
        g.output("z", g.add(x, 1));
        g.output("w", g.add(new dev.tenon.core.ir.op.searching.NonZero(), x));
    });

    private final Engine engine =
            Engine.open(Target.cpu(), EngineOptions.defaults().withThreads(1));
    private final CompiledModel model = engine.compile(GRAPH);
    private final Session session = model.newSession();
    private final Tensor x = Tensor.of(new float[] {1, 0, 3}, 3);
    private final Map<String, Tensor> inputs = Map.of("x", x);

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void chosenOutputsComeInTheOrderAskedFor() {
        Map<String, Tensor> outputs = session.run(inputs, List.of("z", "y"));
        assertThat(outputs.keySet()).containsExactly("z", "y");
        assertThat(outputs.get("z").toFloats()).containsExactly(2, 1, 4);
        assertThat(outputs.get("y").toFloats()).containsExactly(2, 0, 6);
        assertThat(session.run(inputs, List.of("w")).get("w").toLongs()).containsExactly(0, 2);
    }

    @Test
    void whatOthersNeedIsNotPlanned() {
        session.run(inputs, List.of("y"));
        assertThat(model.report().plans()).hasSize(1);
        assertThat(model.report().plans().getFirst().steps()).hasSize(1);
    }

    @Test
    void ordersOfTheSameOutputsShareAPlan() {
        session.run(inputs, List.of("y", "z"));
        session.run(inputs, List.of("z", "y"));
        assertThat(model.report().plans()).hasSize(1);
    }

    @Test
    void unknownRepeatedAndNoNamesAreRefused() {
        assertThatThrownBy(() -> session.run(inputs, List.of("y", "q")))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("no output \"q\"; expected one of [y, z, w]");
        assertThatThrownBy(() -> session.run(inputs, List.of("y", "y"))).isInstanceOf(InputException.class);
        assertThatThrownBy(() -> session.run(inputs, List.of())).isInstanceOf(InputException.class);
    }

    @Test
    void givenTensorsAreFilled() {
        Tensor y = Tensor.of(new float[] {9, 9, 9}, 3);
        MemorySegment memory = y.segment();
        session.runInto(inputs, Map.of("y", y));
        assertThat(y.toFloats()).containsExactly(2, 0, 6);
        assertThat(y.segment()).isEqualTo(memory);
    }

    @Test
    void outputsOfEarlierStagesAreFilledToo() {
        Tensor y = Tensor.zeros(DType.F32, 3);
        Tensor w = Tensor.zeros(DType.I64, 1, 2);
        session.runInto(inputs, Map.of("y", y, "w", w));
        assertThat(y.toFloats()).containsExactly(2, 0, 6);
        assertThat(w.toLongs()).containsExactly(0, 2);
    }

    @Test
    void anInputMayBeTheOutput() {
        Tensor both = Tensor.of(new float[] {1, 0, 3}, 3);
        session.runInto(Map.of("x", both), Map.of("z", both));
        assertThat(both.toFloats()).containsExactly(2, 1, 4);
    }

    @Test
    void memoryThatKernelsCannotWriteIsFilledByACopy() {
        float[] heap = new float[3];
        Tensor onHeap = Tensor.wrap(TensorType.of(DType.F32, 3), MemorySegment.ofArray(heap));
        try (Arena arena = Arena.ofConfined()) {
            Tensor confined = Tensor.allocate(arena, TensorType.of(DType.F32, 3));
            session.runInto(inputs, Map.of("y", onHeap, "z", confined));
            assertThat(confined.toFloats()).containsExactly(2, 1, 4);
        }
        assertThat(heap).containsExactly(2, 0, 6);
    }

    @Test
    void faultOfARunCarriesOperationAndOperands() {
        Graph graph = GraphBuilder.build("gather", g -> {
            Value at = g.input("at", DType.I64, 1);
            g.output("y", g.gather(g.input("data", DType.F32, 2, 3), at, 0));
        });
        Map<String, Tensor> given = Map.of("data", Tensor.zeros(DType.F32, 2, 3), "at", Tensor.of(new long[] {5}, 1));
        try (CompiledModel gather = engine.compile(graph);
                Session run = gather.newSession()) {
            assertThatThrownBy(() -> run.run(given)).isInstanceOfSatisfying(DataException.class, e -> {
                assertThat(e.operation()).hasValue("gather");
                assertThat(e.operands()).containsExactly("f32[2,3]", "i64[1]");
            });
        }
    }

    @Test
    void memoryBeyondTheLimitTellsItsBytes() {
        EngineOptions small = EngineOptions.defaults().withThreads(1).withMemoryLimit(1 << 20);
        Graph graph = GraphBuilder.build("large", g -> {
            Value x = g.input("x", DType.F32, 1 << 10, 1 << 10);
            g.output("y", g.softmax(g.matmul(x, x), -1));
        });
        try (Engine limited = Engine.open(Target.cpu(), small);
                CompiledModel large = limited.compile(graph);
                Session run = large.newSession()) {
            assertThatThrownBy(() -> run.run(Map.of("x", Tensor.zeros(DType.F32, 1 << 10, 1 << 10))))
                    .isInstanceOfSatisfying(
                            OutOfMemoryException.class,
                            e -> assertThat(e.bytes().orElse(0)).isGreaterThanOrEqualTo(1 << 20));
        }
    }

    @Test
    void tensorsThatCannotTakeTheOutputAreRefused() {
        assertThatThrownBy(() -> session.runInto(inputs, Map.of("y", Tensor.zeros(DType.F32, 4))))
                .isInstanceOfSatisfying(
                        InputException.class, e -> assertThat(e.argument()).hasValue("y"))
                .hasMessageContaining("output \"y\": the run gives f32[3], the tensor to fill is f32[4]");
        Tensor readOnly = Tensor.wrap(
                TensorType.of(DType.F32, 3), Arena.ofAuto().allocate(12).asReadOnly());
        assertThatThrownBy(() -> session.runInto(inputs, Map.of("y", readOnly)))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("read-only");
        assertThatThrownBy(() -> session.runInto(inputs, Map.of()))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("argument \"outputs\" is empty");
    }
}
