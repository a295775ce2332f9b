package dev.tenon.formats.onnx;

import dev.tenon.formats.onnx.schema.AttributeProto;
import dev.tenon.formats.onnx.schema.GraphProto;
import dev.tenon.formats.onnx.schema.NodeProto;
import dev.tenon.formats.onnx.schema.TensorProto;
import dev.tenon.formats.onnx.schema.ValueInfoProto;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;

/** The values that nodes and graphs take from around them by name alone. */
final class FreeNames {
    private FreeNames() {}

    /** What a node uses: its inputs, and what the graphs that it holds do not define themselves. */
    static Set<String> of(NodeProto node) {
        Set<String> names = new LinkedHashSet<>();
        addUses(node, names);
        return names;
    }

    /** What a graph uses and does not define, in order of first use. */
    static Set<String> of(GraphProto graph) {
        Set<String> names = new LinkedHashSet<>();
        graph.nodes().forEach(node -> addUses(node, names));
        graph.outputs().stream().map(ValueInfoProto::name).forEach(names::add);
        Set<String> defined = new HashSet<>();
        graph.inputs().stream().map(ValueInfoProto::name).forEach(defined::add);
        graph.initializers().stream().map(TensorProto::name).forEach(defined::add);
        graph.nodes().forEach(node -> defined.addAll(node.outputs()));
        names.removeAll(defined);
        return names;
    }

    private static void addUses(NodeProto node, Set<String> names) {
        for (String input : node.inputs()) {
            if (!input.isEmpty()) {
                names.add(input);
            }
        }
        for (AttributeProto attribute : node.attributes()) {
            if (attribute.graph() != null) {
                names.addAll(of(attribute.graph()));
            }
        }
    }
}
