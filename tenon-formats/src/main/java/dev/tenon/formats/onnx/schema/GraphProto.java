package dev.tenon.formats.onnx.schema;

import java.util.List;

/** A graph: the model's own, or a branch's. {@code sparse} counts sparse initialisers, which nobody reads yet. */
public record GraphProto(
        String name,
        List<NodeProto> nodes,
        List<TensorProto> initializers,
        int sparse,
        List<ValueInfoProto> inputs,
        List<ValueInfoProto> outputs) {

    static GraphProto read(WireReader in) {
        String name = "";
        List<NodeProto> nodes = WireReader.list();
        List<TensorProto> initializers = WireReader.list();
        int sparse = 0;
        List<ValueInfoProto> inputs = WireReader.list();
        List<ValueInfoProto> outputs = WireReader.list();
        while (in.next()) {
            switch (in.field()) {
                case 1 -> in.addTo(nodes, NodeProto::read);
                case 2 -> name = in.string();
                case 5 -> in.addTo(initializers, TensorProto::read);
                case 11 -> in.addTo(inputs, ValueInfoProto::read);
                case 12 -> in.addTo(outputs, ValueInfoProto::read);
                case 15 -> {
                    in.skip();
                    sparse++;
                }
                // 13, value_info: types are inferred, never believed; 14: quantisation hints for tools
                default -> in.skip();
            }
        }
        return new GraphProto(
                name, List.copyOf(nodes), List.copyOf(initializers), sparse, List.copyOf(inputs), List.copyOf(outputs));
    }
}
