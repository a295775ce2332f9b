package dev.tenon.cuda.lower.sorting;

import dev.tenon.core.ir.DType;

/**
 * How kernels make keys of a type's elements, {@code sort_key.cuh}.
 *
 * @param kind of the type
 * @param largest of floats the bits of the largest magnitude that is not NaN, else 0
 */
public record SortOrder(int kind, long largest) {
    private static final int UNSIGNED = 0;
    private static final int SIGNED = 1;
    private static final int FLOAT = 2;

    /** The order of a type of whole bytes. */
    public static SortOrder of(DType dtype) {
        return switch (dtype) {
            case F64 -> new SortOrder(FLOAT, 0x7ff0_0000_0000_0000L);
            case F32 -> new SortOrder(FLOAT, 0x7f80_0000L);
            case F16 -> new SortOrder(FLOAT, 0x7c00L);
            case BF16 -> new SortOrder(FLOAT, 0x7f80L);
            case F8E4M3 -> new SortOrder(FLOAT, 0x7eL);
            case F8E5M2 -> new SortOrder(FLOAT, 0x7cL);
            case I64, I32, I16, I8 -> new SortOrder(SIGNED, 0);
            case U64, U32, U16, U8, BOOL -> new SortOrder(UNSIGNED, 0);
            case I4, U4 -> throw new IllegalArgumentException("elements of " + dtype + " share bytes");
        };
    }
}
