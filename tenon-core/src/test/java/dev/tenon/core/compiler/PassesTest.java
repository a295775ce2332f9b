package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.testkit.RandomGraphs;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever the passes do to a graph, its results stay. */
public final class PassesTest {
    PassesTest() {}

    private static final int GRAPHS = 150;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void keepTheResultsOfRandomGraphs(boolean optimise) {
        for (long seed = 0; seed < GRAPHS; seed++) {
            Graph graph = RandomGraphs.graph(seed);
            Map<String, NdArray> inputs = RandomGraphs.inputs(graph, seed);
            Plan plan = plan(graph, CompilerOptions.defaults().withOptimise(optimise));
            Map<String, NdArray> expected = Interpreter.run(graph, inputs);
            Map<String, NdArray> actual = Interpreter.run(plan.graph(), inputs);
            assertThat(actual.keySet()).as("seed %d", seed).isEqualTo(expected.keySet());
            for (String name : expected.keySet()) {
                assertSame(
                        expected.get(name),
                        actual.get(name),
                        "seed " + seed + " output " + name + "\n" + graph + "\n" + plan.graph());
            }
        }
    }

    @Test
    void areNamedForDumping() {
        assertThat(Compiler.passNames())
                .containsExactly(
                        "prepare",
                        "specialise",
                        "decompose",
                        "canonicalise",
                        "cse",
                        "spelled-forms",
                        "spelled-rope",
                        "spelled-attention",
                        "narrow-masks",
                        "fuse-scaled-products",
                        "half-precision",
                        "fold-pads",
                        "fuse-epilogues",
                        "fuse-gated-units",
                        "channels-last",
                        "merge-parallel-products",
                        "pack-heads",
                        "fuse-elementwise",
                        "fuse-embeddings",
                        "fuse-residual-norms",
                        "dce",
                        "output-copies");
        Map<String, String> dumped = new LinkedHashMap<>();
        plan(RandomGraphs.graph(1), CompilerOptions.defaults().withDump(java.util.Set.of("all"), dumped::put));
        assertThat(dumped.keySet()).containsExactlyElementsOf(Compiler.passNames());
    }

    public static Plan plan(Graph graph, CompilerOptions options) {
        Compiler compiler = new Compiler(options, node -> false);
        Map<String, TensorType> types = new LinkedHashMap<>();
        for (Value input : graph.inputs()) {
            types.put(input.name(), input.type());
        }
        return compiler.plan(compiler.prepare(graph, Map.of()), types, Map.of()).plan();
    }

    /** Folding rounds a constant once more than the float64 interpreter does: a few units of f32. NaN equals NaN. */
    private static void assertSame(NdArray expected, NdArray actual, String description) {
        assertThat(actual.type()).as(description).isEqualTo(expected.type());
        for (int i = 0; i < expected.size(); i++) {
            double e = expected.get(i);
            double a = actual.get(i);
            if (Double.isNaN(e) || Double.isInfinite(e)) {
                assertThat(a).as(description).isEqualTo(Double.valueOf(e)); // boxed: NaN equals NaN
            } else {
                assertThat(a).as(description).isCloseTo(e, within(1e-5 * Math.max(1, Math.abs(e))));
            }
        }
    }
}
