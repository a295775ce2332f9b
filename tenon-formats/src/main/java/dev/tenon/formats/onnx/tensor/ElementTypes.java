package dev.tenon.formats.onnx.tensor;

import dev.tenon.core.ir.DType;
import org.jspecify.annotations.Nullable;

/** The element types of the ONNX specification (TensorProto.DataType) and ours. */
public final class ElementTypes {
    private ElementTypes() {}

    /** Our type of that code; null where there is none. */
    public static @Nullable DType of(long code) {
        return switch ((int) code) {
            case 1 -> DType.F32;
            case 2 -> DType.U8;
            case 3 -> DType.I8;
            case 4 -> DType.U16;
            case 5 -> DType.I16;
            case 6 -> DType.I32;
            case 7 -> DType.I64;
            case 9 -> DType.BOOL;
            case 10 -> DType.F16;
            case 11 -> DType.F64;
            case 12 -> DType.U32;
            case 13 -> DType.U64;
            case 16 -> DType.BF16;
            case 17 -> DType.F8E4M3;
            case 19 -> DType.F8E5M2;
            case 21 -> DType.U4;
            case 22 -> DType.I4;
            default -> null;
        };
    }

    /** The specification's name of a code, for messages. */
    public static String name(long code) {
        return switch ((int) code) {
            case 0 -> "undefined";
            case 8 -> "string";
            case 14 -> "complex64";
            case 15 -> "complex128";
            case 18 -> "float8e4m3fnuz";
            case 20 -> "float8e5m2fnuz";
            case 23 -> "float4e2m1";
            case 24 -> "float8e8m0";
            case 25 -> "uint2";
            case 26 -> "int2";
            default -> {
                DType known = of(code);
                yield known != null ? known.toString() : "number " + code;
            }
        };
    }
}
