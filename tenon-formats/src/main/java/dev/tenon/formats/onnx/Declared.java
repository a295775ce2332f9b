package dev.tenon.formats.onnx;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.formats.onnx.schema.TypeProto;
import dev.tenon.formats.onnx.schema.ValueInfoProto;
import dev.tenon.formats.onnx.tensor.ElementTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The types that a file declares for its inputs and outputs. */
final class Declared {
    /** What exporters write for a dim that they have no name for: one word for many different dims. */
    private static final Set<String> NO_NAMES = Set.of("", "?", "-1", "None", "none", "unk", "unknown");

    private Declared() {}

    /**
     * An input's type. A dim without a number gets its declared name, or {@code input_axis}, so that a run can bind it.
     */
    static TensorType input(String file, ValueInfoProto input) {
        DType dtype = dtype(file + ": input \"" + input.name() + "\"", input.type());
        if (dtype == null) {
            throw new ImportException(file + ": input \"" + input.name() + "\" declares no type");
        }
        List<TypeProto.DimProto> dims = input.type().dims();
        return new TensorType(dtype, dims == null ? Shape.unranked() : Shape.of(dims(input.name(), dims)));
    }

    /** An output's type: as inferred, and as declared where inference cannot tell before a run. */
    static TensorType output(TensorType inferred, ValueInfoProto output) {
        List<TypeProto.DimProto> declared = output.type().dims();
        boolean ranked = inferred.shape().isRanked();
        if (declared == null || (ranked && inferred.shape().rank() != declared.size())) {
            return inferred;
        }
        List<Dim> dims = new ArrayList<>();
        for (int axis = 0; axis < declared.size(); axis++) {
            Dim known = ranked ? inferred.shape().dim(axis) : Dim.unknown();
            dims.add(known.equals(Dim.unknown()) ? dim(declared.get(axis), "?") : known);
        }
        return new TensorType(inferred.dtype(), Shape.of(dims));
    }

    /** @param name for a dim that has neither number nor name; {@code ?} for none */
    private static Dim dim(TypeProto.DimProto declared, String name) {
        if (declared.value() != null && declared.value() >= 0) {
            return Dim.of(declared.value());
        }
        String chosen = NO_NAMES.contains(declared.parameter()) ? name : declared.parameter();
        return chosen.equals("?") ? Dim.unknown() : Dim.named(chosen);
    }

    private static List<Dim> dims(String name, List<TypeProto.DimProto> declared) {
        List<Dim> dims = new ArrayList<>();
        for (int axis = 0; axis < declared.size(); axis++) {
            dims.add(dim(declared.get(axis), name + "_" + axis));
        }
        return dims;
    }

    /**
     * The declared element type; null where none is.
     *
     * @throws ImportException for what is no tensor, or of a type that Tenon has not
     */
    static @Nullable DType dtype(String what, TypeProto type) {
        return switch (type.kind()) {
            case NONE -> null;
            case TENSOR -> {
                DType dtype = ElementTypes.of(type.elementType());
                if (dtype == null && type.elementType() != 0) {
                    throw new ImportException(what + " has the element type " + ElementTypes.name(type.elementType())
                            + ", which is not supported");
                }
                yield dtype;
            }
            case SEQUENCE, MAP, OPTIONAL, SPARSE_TENSOR, OPAQUE ->
                throw new ImportException(what + " is no tensor but "
                        + type.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ') + ", which is not supported");
        };
    }
}
