package dev.tenon.formats.onnx.schema;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A named setting of a node. {@code reference} names an attribute of the function that the node stands in, whose value
 * it then takes.
 */
public record AttributeProto(
        String name,
        int type,
        String reference,
        float floatValue,
        long intValue,
        @Nullable MemorySegment stringValue,
        @Nullable TensorProto tensor,
        @Nullable GraphProto graph,
        List<Float> floats,
        List<Long> ints,
        List<MemorySegment> strings) {
    public static final int FLOAT = 1;
    public static final int INT = 2;
    public static final int STRING = 3;
    public static final int TENSOR = 4;
    public static final int GRAPH = 5;
    public static final int FLOATS = 6;
    public static final int INTS = 7;
    public static final int STRINGS = 8;

    private static final List<String> TYPES = List.of(
            "undefined",
            "float",
            "int",
            "string",
            "tensor",
            "graph",
            "floats",
            "ints",
            "strings",
            "tensors",
            "graphs",
            "sparse tensor",
            "sparse tensors",
            "type",
            "types");

    static AttributeProto read(WireReader in) {
        String name = "";
        int type = 0;
        int guessed = 0;
        String reference = "";
        float floatValue = 0;
        long intValue = 0;
        MemorySegment stringValue = null;
        TensorProto tensor = null;
        GraphProto graph = null;
        List<Float> floats = WireReader.list();
        List<Long> ints = WireReader.list();
        List<MemorySegment> strings = WireReader.list();
        while (in.next()) {
            int field = in.field();
            // files older than IR version 2 have no type: the field that is there tells it
            guessed = field >= 2 && field <= 6 ? field - 1 : field >= 7 && field <= 11 ? field - 1 : guessed;
            switch (field) {
                case 1 -> name = in.string();
                case 2 -> floatValue = in.float32();
                case 3 -> intValue = in.int64();
                case 4 -> stringValue = in.bytes();
                case 5 -> tensor = TensorProto.read(in.message());
                case 6 -> graph = GraphProto.read(in.message());
                case 7 -> in.floats(floats);
                case 8 -> in.int64s(ints);
                case 9 -> strings.add(in.bytes());
                case 20 -> type = in.int32();
                case 21 -> reference = in.string();
                default -> in.skip();
            }
        }
        if (name.isEmpty()) {
            throw in.error("an attribute without a name");
        }
        return new AttributeProto(
                name,
                type != 0 ? type : guessed,
                reference,
                floatValue,
                intValue,
                stringValue,
                tensor,
                graph,
                List.copyOf(floats),
                List.copyOf(ints),
                List.copyOf(strings));
    }

    /** The string value, empty where there is none. */
    public String text() {
        return stringValue == null ? "" : decode(stringValue);
    }

    /** All strings of a list. */
    public List<String> texts() {
        return strings.stream().map(AttributeProto::decode).toList();
    }

    /** The type in words, for messages. */
    public String typeName() {
        return typeName(type);
    }

    public static String typeName(int type) {
        return type >= 0 && type < TYPES.size() ? TYPES.get(type) : "type " + type;
    }

    private static String decode(MemorySegment bytes) {
        return new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
