package dev.tenon.formats.onnx.schema;

import java.util.List;

/** One application of an operator; an empty input name is an optional input left out. */
public record NodeProto(
        String name,
        String domain,
        String opType,
        String overload,
        List<String> inputs,
        List<String> outputs,
        List<AttributeProto> attributes) {

    static NodeProto read(WireReader in) {
        String name = "";
        String domain = "";
        String opType = "";
        String overload = "";
        List<String> inputs = WireReader.list();
        List<String> outputs = WireReader.list();
        List<AttributeProto> attributes = WireReader.list();
        while (in.next()) {
            switch (in.field()) {
                case 1 -> inputs.add(in.string());
                case 2 -> outputs.add(in.string());
                case 3 -> name = in.string();
                case 4 -> opType = in.string();
                case 5 -> in.addTo(attributes, AttributeProto::read);
                case 7 -> domain = in.string();
                case 8 -> overload = in.string();
                default -> in.skip();
            }
        }
        if (opType.isEmpty()) {
            // refused here so that a file of empty nodes cannot take 50 times its size on the heap
            throw in.error("a node without an operator");
        }
        return new NodeProto(
                name, domain, opType, overload, List.copyOf(inputs), List.copyOf(outputs), List.copyOf(attributes));
    }

    /** The node's name; where it has none, its operator and its first result. */
    public String label() {
        return !name.isEmpty() ? name : outputs.isEmpty() ? opType : opType + ":" + outputs.getFirst();
    }
}
