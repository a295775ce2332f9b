package dev.tenon.cuda.kernel.file;

import dev.tenon.core.ir.DType;

/**
 * The numbers by which kernels know element types: {@code types.cuh}, with which a test compares them. Floats come
 * first, the unsigned integers and bool last.
 */
public final class TypeCodes {
    private TypeCodes() {}

    /** Of a type that {@link #has} knows. */
    public static int of(DType dtype) {
        return switch (dtype) {
            case F64 -> 0;
            case F32 -> 1;
            case F16 -> 2;
            case BF16 -> 3;
            case I64 -> 4;
            case I32 -> 5;
            case I16 -> 6;
            case I8 -> 7;
            case U64 -> 8;
            case U32 -> 9;
            case U16 -> 10;
            case U8 -> 11;
            case BOOL -> 12;
            case F8E4M3, F8E5M2, I4, U4 -> throw new IllegalArgumentException("kernels do not know " + dtype);
        };
    }

    /** Of any type: those that only casts know go on from the others, {@code narrow_types.cuh}. */
    public static int ofAny(DType dtype) {
        return switch (dtype) {
            case F8E4M3 -> 13;
            case F8E5M2 -> 14;
            case I4 -> 15;
            case U4 -> 16;
            case F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL -> of(dtype);
        };
    }

    public static boolean isFloat(int code) {
        return code <= 3;
    }

    /** Whether kernels know the type; casts know all. */
    public static boolean has(DType dtype) {
        return switch (dtype) {
            case F8E4M3, F8E5M2, I4, U4 -> false;
            case F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL -> true;
        };
    }
}
