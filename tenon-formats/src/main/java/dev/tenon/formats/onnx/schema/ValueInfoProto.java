package dev.tenon.formats.onnx.schema;

/** A value's name and its declared type. */
public record ValueInfoProto(String name, TypeProto type) {
    static ValueInfoProto read(WireReader in) {
        String name = "";
        TypeProto type = TypeProto.NONE;
        while (in.next()) {
            switch (in.field()) {
                case 1 -> name = in.string();
                case 2 -> type = TypeProto.read(in.message());
                default -> in.skip();
            }
        }
        if (name.isEmpty()) {
            throw in.error("an input or output without a name");
        }
        return new ValueInfoProto(name, type);
    }
}
