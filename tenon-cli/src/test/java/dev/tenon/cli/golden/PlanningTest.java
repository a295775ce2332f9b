package dev.tenon.cli.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.Prepared;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.formats.onnx.OnnxModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Planning MiniLM for many sizes: how long it takes, and that what is done ahead of them changes no plan. */
final class PlanningTest {
    private static final Path MODEL = Path.of("target/dist/models/all-minilm-l6-v2.onnx");
    private static final int PAIRS = 200;

    /** Far more than a loaded machine needs: what it guards against is a plan that costs a second. */
    private static final long MOST_NANOS = 60_000_000_000L;

    @BeforeAll
    static void modelIsThere() {
        assumeTrue(Files.exists(MODEL), "no MiniLM in target/dist/models");
    }

    @Test
    void twoHundredSizesTakeLittleTimeAndNoMoreMemoryThanHalfAsMany() throws Exception {
        Graph graph = OnnxModel.load(MODEL).graph();
        try (Engine engine = Engine.open(Target.parse("cpu"));
                CompiledModel compiled = engine.compile(graph)) {
            long total = 0;
            long last = 0;
            long halfway = 0;
            for (int i = 0; i < PAIRS; i++) {
                if (i == PAIRS / 2) {
                    halfway = compiled.report().weightBytes();
                }
                long start = System.nanoTime();
                compiled.plan(Map.of("batch_size", 1L + i / 100, "sequence_length", 8L + i % 100));
                last = System.nanoTime() - start;
                total += last;
            }
            assertThat(compiled.report().weightBytes()).isEqualTo(halfway);
            assertThat(compiled.report().plans())
                    .hasSize(CompileOptions.defaults().maxPlans());
            System.out.printf(
                    "planning MiniLM on the CPU for %d sizes: %.0f ms, the last one %.2f ms%n",
                    PAIRS, total / 1e6, last / 1e6);
            assertThat(total).isLessThan(MOST_NANOS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void plansDoTheSameWorkAsThoseMadeWithSizesFromTheStart(boolean claimed) throws Exception {
        Graph graph = OnnxModel.load(MODEL).graph();
        Compiler compiler = new Compiler(CompilerOptions.defaults(), node -> claimed);
        Prepared prepared = compiler.prepare(graph, Map.of());
        assertThat(prepared.limits()).isEqualTo(Map.of("sequence_length", 512L));
        for (long batch : new long[] {1, 2, 7, 12, 32}) {
            for (long length : new long[] {1, 2, 7, 12, 32, 128, 384, 512}) {
                Map<String, TensorType> types = types(graph, batch, length);
                Plan ahead = compiler.plan(prepared, types, Map.of()).plan();
                Plan late = compiler.plan(prepared.graph(), types, Map.of()).plan();
                String sizes = batch + " x " + length;
                assertThat(work(ahead)).as(sizes).isEqualTo(work(late));
                assertThat(ahead.memory().arenaBytes())
                        .as(sizes)
                        .isEqualTo(late.memory().arenaBytes());
            }
        }
    }

    private static Map<String, TensorType> types(Graph graph, long batch, long length) {
        return graph.inputs().stream()
                .collect(Collectors.toMap(Value::name, _ -> TensorType.of(DType.I64, batch, length)));
    }

    /** The steps, sorted: their order and their values' names may differ. */
    private static List<String> work(Plan plan) {
        return plan.work().stream().map(PlanningTest::described).sorted().toList();
    }

    private static String described(Node node) {
        return node.op() + " " + node.inputs().stream().map(Value::type).toList() + " -> "
                + node.outputs().stream().map(Value::type).toList();
    }
}
