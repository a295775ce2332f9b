package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Weights;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which scatters add in any order, and that none does unless it is asked for. */
class AdditionOrderTest {
    @BeforeAll
    static void device() {
        Harness.require();
    }

    private static String tier(DType type, ScatterFn fn, CompileOptions options) {
        Graph graph = GraphBuilder.build(
                "scatter",
                g -> g.output(
                        "y",
                        g.add(
                                        "",
                                        new ScatterElements(0, fn),
                                        List.of(
                                                g.input("x", type, 3),
                                                g.input("at", DType.I64, 5),
                                                g.input("u", type, 5)))
                                .getFirst()));
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(graph, Weights.none(), options)) {
            model.plan(Map.of());
            return model.report().plans().getFirst().steps().getFirst().tier();
        }
    }

    @Test
    void additionsOfFloatsAreAtomicOnlyWhereAnyOrderIsAskedFor() {
        CompileOptions any = CompileOptions.defaults().withAdditionOrder(AdditionOrder.ANY);
        for (DType type : List.of(DType.F32, DType.F64)) {
            assertThat(tier(type, ScatterFn.ADD, any)).contains("any order");
            assertThat(tier(type, ScatterFn.ADD, CompileOptions.defaults())).contains("index order");
            assertThat(tier(type, ScatterFn.MAX, any)).contains("index order");
        }
        for (DType type : List.of(DType.F16, DType.BF16, DType.I32)) {
            assertThat(tier(type, ScatterFn.ADD, any)).contains("index order");
        }
    }
}
