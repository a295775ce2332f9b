package dev.tenon.collective.reduce;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import java.lang.foreign.MemorySegment;

/** Floats of 16 and 8 bits to f32 and back, in bulk: to nearest, ties to even; NaN stays NaN. */
final class ShortFloats {
    private ShortFloats() {}

    static void loadF16(MemorySegment source, long at, float[] array, int from, int count) {
        for (int i = 0; i < count; i++) {
            array[from + i] = Float.float16ToFloat(source.get(JAVA_SHORT_UNALIGNED, (at + i) * 2));
        }
    }

    static void storeF16(float[] array, int from, MemorySegment target, long at, int count) {
        for (int i = 0; i < count; i++) {
            target.set(JAVA_SHORT_UNALIGNED, (at + i) * 2, Float.floatToFloat16(array[from + i]));
        }
    }

    static void loadBf16(MemorySegment source, long at, float[] array, int from, int count) {
        for (int i = 0; i < count; i++) {
            array[from + i] = Float.intBitsToFloat(source.get(JAVA_SHORT_UNALIGNED, (at + i) * 2) << 16);
        }
    }

    static void storeBf16(float[] array, int from, MemorySegment target, long at, int count) {
        for (int i = 0; i < count; i++) {
            int bits = Float.floatToRawIntBits(array[from + i]);
            int rounded = (bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16;
            // a NaN whose payload would be rounded away must not become an infinity
            int nan = bits >>> 16 | 0x40;
            target.set(JAVA_SHORT_UNALIGNED, (at + i) * 2, (short) ((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded));
        }
    }

    /** The types of which there is little: one element at a time. */
    static void loadAny(DType dtype, MemorySegment source, long at, float[] array, int from, int count) {
        for (int i = 0; i < count; i++) {
            array[from + i] = (float) Elements.getDouble(dtype, source, at + i);
        }
    }

    static void storeAny(DType dtype, float[] array, int from, MemorySegment target, long at, int count) {
        for (int i = 0; i < count; i++) {
            Elements.setDouble(dtype, target, at + i, array[from + i]);
        }
    }
}
