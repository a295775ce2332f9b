package dev.tenon.formats.onnx.schema;

import java.util.List;

/** An operator that the model defines itself. {@code defaults} are the attributes that have a default value. */
public record FunctionProto(
        String domain,
        String name,
        String overload,
        List<String> inputs,
        List<String> outputs,
        List<AttributeProto> defaults,
        List<NodeProto> nodes,
        List<OpsetProto> opsets) {

    static FunctionProto read(WireReader in) {
        String domain = "";
        String name = "";
        String overload = "";
        List<String> inputs = WireReader.list();
        List<String> outputs = WireReader.list();
        List<AttributeProto> defaults = WireReader.list();
        List<NodeProto> nodes = WireReader.list();
        List<OpsetProto> opsets = WireReader.list();
        while (in.next()) {
            switch (in.field()) {
                case 1 -> name = in.string();
                case 4 -> inputs.add(in.string());
                case 5 -> outputs.add(in.string());
                case 7 -> in.addTo(nodes, NodeProto::read);
                case 9 -> in.addTo(opsets, OpsetProto::read);
                case 10 -> domain = in.string();
                case 11 -> in.addTo(defaults, AttributeProto::read);
                case 13 -> overload = in.string();
                default -> in.skip();
            }
        }
        return new FunctionProto(
                domain,
                name,
                overload,
                List.copyOf(inputs),
                List.copyOf(outputs),
                List.copyOf(defaults),
                List.copyOf(nodes),
                List.copyOf(opsets));
    }
}
