package dev.tenon.core.testkit.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.testkit.Seeded;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** What a compiler plans for graphs whose inputs have fixed sizes. */
public final class Planned {
    private Planned() {}

    public static Plan plan(Graph graph, Compiler compiler) {
        Map<String, TensorType> types = new HashMap<>();
        graph.inputs().forEach(input -> types.put(input.name(), input.type()));
        return compiler.plan(compiler.prepare(graph, Map.of()), types, Map.of()).plan();
    }

    /** For a backend that claims such nodes whole. */
    public static Plan plan(Graph graph, Predicate<Node> claims, String... skip) {
        return plan(graph, new Compiler(CompilerOptions.defaults().withSkip(Set.of(skip)), claims));
    }

    public static Graph graph(Graph graph, Predicate<Node> claims, String... skip) {
        return plan(graph, claims, skip).graph();
    }

    /** The operations in order, of a plan that gives what the graph gives, on drawn inputs. */
    public static List<String> operations(Graph graph, Predicate<Node> claims, String... skip) {
        Graph planned = graph(graph, claims, skip);
        assertSame(graph, planned, inputs(graph, 7));
        return operations(planned);
    }

    public static List<String> operations(Graph graph) {
        return graph.nodes().stream().map(node -> node.op().mnemonic()).toList();
    }

    /** Drawn for every input. */
    public static Map<String, NdArray> inputs(Graph graph, long seed) {
        Map<String, NdArray> inputs = new HashMap<>();
        Seeded random = new Seeded(seed);
        graph.inputs()
                .forEach(input -> inputs.put(
                        input.name(), random.array(input.dtype(), input.shape().sizes())));
        return inputs;
    }

    public static void assertSame(Graph graph, Graph planned, Map<String, NdArray> inputs) {
        Map<String, NdArray> expected = Interpreter.run(graph, inputs);
        Map<String, NdArray> actual = Interpreter.run(planned, inputs);
        assertThat(actual.keySet()).isEqualTo(expected.keySet());
        expected.forEach((name, value) -> assertThat(actual.get(name).toDoubles())
                .as("%s of %s", name, planned)
                .containsExactly(value.toDoubles(), within(1e-5)));
    }
}
