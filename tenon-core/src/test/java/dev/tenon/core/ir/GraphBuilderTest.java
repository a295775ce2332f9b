package dev.tenon.core.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.op.elementwise.Copy;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class GraphBuilderTest {
    @Test
    void builtBuilderRefusesUse() {
        GraphBuilder g = new GraphBuilder("once");
        Value x = g.input("x", DType.F32, Dim.of(2));
        g.output("y", g.add(x, x));
        Graph graph = g.build();
        List<ThrowingCallable> uses = List.of(
                g::build,
                () -> g.input("z", DType.F32, Dim.of(2)),
                () -> g.parameter("w", DType.F32, 2),
                () -> g.constant(NdArray.ofLongs(1).toConstant()),
                () -> g.add(x, x),
                () -> g.add("n", new Copy(), List.of(x)),
                () -> g.defaults(new LinkedHashMap<>(), _ -> graph),
                () -> g.output("z", x));
        for (ThrowingCallable use : uses) {
            assertThatThrownBy(use).isInstanceOf(ClosedException.class).hasMessageContaining("\"once\" is built");
        }
        assertThat(graph.nodes()).hasSize(1);
        assertThat(graph.outputs()).containsOnlyKeys("y");
    }

    /** x + w * w, of which w is a constant 3 unless it is given. */
    private static Graph squared(boolean given) {
        return GraphBuilder.build("squared", g -> {
            Value x = g.input("x", DType.I64, Dim.of(2));
            Value w = given
                    ? g.input("w", DType.I64, Dim.of(1))
                    : g.constant("w", NdArray.ofLongs(3).toConstant());
            g.output("y", g.add(x, g.mul(w, w)));
            if (!given) {
                LinkedHashMap<String, TensorType> types = new LinkedHashMap<>();
                types.put("w", TensorType.of(DType.I64, 1));
                g.defaults(types, names -> squared(names.contains("w")));
            }
        });
    }

    @Test
    void defaultsAreReplacedByGivenValues() {
        Graph graph = squared(false);
        NdArray x = NdArray.ofLongs(1, 2);
        assertThat(Interpreter.run(graph, Map.of("x", x)).get("y").toLongs()).containsExactly(10, 11);
        Map<String, NdArray> both = Map.of("x", x, "w", NdArray.ofLongs(10));
        assertThat(Interpreter.run(graph, both).get("y").toLongs()).containsExactly(101, 102);
        assertThat(graph.overridden(Set.of("x", "w"))).containsExactly("w");
        assertThatThrownBy(() -> graph.overriding(Set.of("x")))
                .isInstanceOf(InputException.class)
                .hasMessageContainingAll("squared", "[x]", "[w]");
    }

    /** A model may give its values names that strings have one hash for. */
    @Test
    void namesDoNotDecideAboutHashes() {
        Set<Integer> hashes = new HashSet<>();
        Set<Integer> ofNames = new HashSet<>();
        GraphBuilder.build("alike", g -> {
            for (int i = 0; i < 256; i++) {
                StringBuilder name = new StringBuilder();
                for (int bit = 0; bit < 8; bit++) {
                    name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
                }
                ofNames.add(name.toString().hashCode());
                hashes.add(g.input(name.toString(), DType.F32).hashCode());
            }
            g.output("y", g.scalar(DType.F32, 1));
        });
        assertThat(ofNames).hasSize(1);
        assertThat(hashes).hasSizeGreaterThan(200);
    }
}
