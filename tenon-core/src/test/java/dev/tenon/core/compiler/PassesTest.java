package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.testkit.RandomGraphs;
import dev.tenon.core.testkit.plan.Planned;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

    /** Each alone is left out, the others run. */
    @Test
    void keepTheResultsWithoutOneOfThem() {
        for (String name : Compiler.optimisationNames()) {
            CompilerOptions options = CompilerOptions.defaults().withSkip(Set.of(name));
            for (long seed = 0; seed < 20; seed++) {
                Graph graph = RandomGraphs.graph(seed);
                Map<String, NdArray> inputs = RandomGraphs.inputs(graph, seed);
                Plan plan = plan(graph, options);
                Map<String, NdArray> expected = Interpreter.run(graph, inputs);
                Map<String, NdArray> actual = Interpreter.run(plan.graph(), inputs);
                expected.forEach((output, value) -> assertSame(
                        value, Objects.requireNonNull(actual.get(output)), "without " + name + "\n" + graph));
            }
        }
    }

    @Test
    void onlyOptimisationsCanBeLeftOut() {
        assertThat(Compiler.optimisationNames())
                .contains("cse", "fold-batch-norms", "fuse-elementwise", "fuse-row-regions")
                .doesNotContain("decompose", "dce", "output-copies", "prepare");
        for (String name : List.of("dce", "fuse-all")) {
            assertThatThrownBy(() -> new Compiler(CompilerOptions.defaults().withSkip(Set.of(name)), node -> false))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("no pass " + name + " can be skipped; expected some of canonicalise");
        }
    }

    @Test
    void skippedPassLeavesNoGraphToDump() {
        CompilerOptions options = CompilerOptions.defaults()
                .withSkip(Set.of("cse", "fold-pads"))
                .withDump(Set.of("all", "dce", "cse"), (pass, text) -> {});
        assertThatThrownBy(() -> new Compiler(options, node -> false))
                .isInstanceOf(InputException.class)
                .hasMessage("no graph can be dumped after cse, which is skipped; expected another pass, or all");
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
                        "fuse-row-regions",
                        "fuse-normed-products",
                        "fuse-projected-attention",
                        "fuse-prologues",
                        "dce",
                        "output-copies");
        Map<String, String> dumped = new LinkedHashMap<>();
        plan(RandomGraphs.graph(1), CompilerOptions.defaults().withDump(Set.of("all"), dumped::put));
        assertThat(dumped.keySet()).containsExactlyElementsOf(Compiler.passNames());
    }

    public static Plan plan(Graph graph, CompilerOptions options) {
        return Planned.plan(graph, new Compiler(options, node -> false));
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
