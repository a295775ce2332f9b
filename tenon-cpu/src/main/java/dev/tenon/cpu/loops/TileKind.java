package dev.tenon.cpu.loops;

import dev.tenon.core.ir.DType;

/**
 * How the elements of a type are held while they are worked on: the short floats as float, every integer as long (sign-
 * or zero-extended), booleans as bytes.
 */
public enum TileKind {
    FLOAT(4),
    DOUBLE(8),
    LONG(8),
    BOOL(1);

    private final int bytes;

    TileKind(int bytes) {
        this.bytes = bytes;
    }

    public int bytes() {
        return bytes;
    }

    public static TileKind of(DType dtype) {
        return switch (dtype) {
            case F32, F16, BF16, F8E4M3, F8E5M2 -> FLOAT;
            case F64 -> DOUBLE;
            case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4 -> LONG;
            case BOOL -> BOOL;
        };
    }

    /** Whether memory of that type is what a tile is, so that kernels can work on it where it lies. */
    public static boolean isDirect(DType dtype) {
        return switch (dtype) {
            case F32, F64, I64, U64, BOOL -> true;
            case F16, BF16, F8E4M3, F8E5M2, I32, I16, I8, I4, U32, U16, U8, U4 -> false;
        };
    }
}
