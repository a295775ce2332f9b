package dev.tenon.formats.onnx.schema;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A declared type.
 *
 * @param kind what the type is; only tensors have the other two
 * @param elementType the code of the element type, 0 when it is not declared
 * @param dims null where not even the rank is declared
 */
public record TypeProto(
        Kind kind, int elementType, @Nullable List<DimProto> dims) {
    /** The declared type of a value that declares none. */
    public static final TypeProto NONE = new TypeProto(Kind.NONE, 0, null);

    /** What a value can be. */
    public enum Kind {
        NONE,
        TENSOR,
        SEQUENCE,
        MAP,
        OPTIONAL,
        SPARSE_TENSOR,
        OPAQUE
    }

    /** One declared dim: a number where {@code value} is there, else a name, which may be empty. */
    public record DimProto(@Nullable Long value, String parameter) {
        static DimProto read(WireReader in) {
            Long value = null;
            String parameter = "";
            while (in.next()) {
                switch (in.field()) {
                    case 1 -> value = in.int64();
                    case 2 -> parameter = in.string();
                    default -> in.skip();
                }
            }
            return new DimProto(value, parameter);
        }
    }

    static TypeProto read(WireReader in) {
        TypeProto type = NONE;
        while (in.next()) {
            switch (in.field()) {
                case 1 -> type = readTensor(in.message());
                case 4 -> type = opaque(Kind.SEQUENCE, in);
                case 5 -> type = opaque(Kind.MAP, in);
                case 7 -> type = opaque(Kind.OPAQUE, in);
                case 8 -> type = opaque(Kind.SPARSE_TENSOR, in);
                case 9 -> type = opaque(Kind.OPTIONAL, in);
                default -> in.skip();
            }
        }
        return type;
    }

    private static TypeProto opaque(Kind kind, WireReader in) {
        in.skip();
        return new TypeProto(kind, 0, null);
    }

    private static TypeProto readTensor(WireReader in) {
        int elementType = 0;
        List<DimProto> dims = null;
        while (in.next()) {
            switch (in.field()) {
                case 1 -> elementType = in.int32();
                case 2 -> dims = readShape(in.message());
                default -> in.skip();
            }
        }
        return new TypeProto(Kind.TENSOR, elementType, dims);
    }

    private static List<DimProto> readShape(WireReader in) {
        List<DimProto> dims = WireReader.list();
        while (in.next()) {
            if (in.field() == 1) {
                in.addTo(dims, DimProto::read);
            } else {
                in.skip();
            }
        }
        return List.copyOf(dims);
    }
}
