package dev.tenon.core.ir.rule;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Puts the nodes of one graph into another. */
public final class Inline {
    private Inline() {}

    /** The outputs of a graph, in order, once its nodes stand in {@code g} on those values for its inputs. */
    public static List<Value> graph(OpBuilder g, Graph graph, List<Value> inputs) {
        Map<Value, Value> here = new HashMap<>();
        for (int i = 0; i < graph.inputs().size(); i++) {
            here.put(graph.inputs().get(i), inputs.get(i));
        }
        for (Value value : graph.constants()) {
            if (value.origin() instanceof Value.Origin.Constant(ConstantData data)) {
                here.put(value, g.constant(data));
            }
        }
        for (Node node : graph.nodes()) {
            List<Value> results = g.addAll(node.op(), translate(here, node.inputs()));
            for (int i = 0; i < results.size(); i++) {
                here.put(node.outputs().get(i), results.get(i));
            }
        }
        return translate(here, List.copyOf(graph.outputs().values()));
    }

    /** The values here that stand for those of the graph; a verified graph uses no others. */
    private static List<Value> translate(Map<Value, Value> here, List<Value> values) {
        return values.stream()
                .map(value -> Objects.requireNonNull(here.get(value)))
                .toList();
    }
}
