package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/**
 * Elements of any type as keys that compare as signed 64-bit numbers: both zeros are equal, NaN is above all and equal
 * to itself.
 */
public final class Order {
    private static final long NAN = Long.MAX_VALUE;

    private Order() {}

    public static long key(DType dtype, MemorySegment segment, long index) {
        return switch (dtype) {
            case F32 -> key(segment.get(Raw.F32, index * 4));
            case F16, BF16, F8E4M3, F8E5M2 -> key((float) Elements.getDouble(dtype, segment, index));
            case F64 -> key(Elements.getDouble(dtype, segment, index));
            case I64, I32, I16, I8, I4, U32, U16, U8, U4, BOOL -> Elements.getLong(dtype, segment, index);
            case U64 -> Elements.getLong(dtype, segment, index) ^ Long.MIN_VALUE;
        };
    }

    /** In the range of an int but for NaN. */
    private static long key(float value) {
        if (Float.isNaN(value)) {
            return NAN;
        }
        // adding a zero turns -0 into 0; the bits of negative floats grow the wrong way
        int bits = Float.floatToRawIntBits(value + 0.0f);
        return bits ^ (bits >> 31 & Integer.MAX_VALUE);
    }

    private static long key(double value) {
        if (Double.isNaN(value)) {
            return NAN;
        }
        long bits = Double.doubleToRawLongBits(value + 0.0);
        return bits ^ (bits >> 63 & Long.MAX_VALUE);
    }
}
