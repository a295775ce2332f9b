package dev.tenon.formats.onnx.schema;

/** An operator set that a model or function uses: OperatorSetIdProto. */
public record OpsetProto(String domain, long version) {
    static OpsetProto read(WireReader in) {
        String domain = "";
        long version = 0;
        while (in.next()) {
            switch (in.field()) {
                case 1 -> domain = in.string();
                case 2 -> version = in.int64();
                default -> in.skip();
            }
        }
        return new OpsetProto(domain, version);
    }
}
