package dev.tenon.cpu.step;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/** Elements of float types as doubles, f32 first: what loops read that sum in double. Positions are elements. */
public final class Doubles {
    private Doubles() {}

    public static double get(DType dtype, MemorySegment from, long element) {
        return dtype == DType.F32 ? from.get(Raw.F32, element * Float.BYTES) : Elements.getDouble(dtype, from, element);
    }

    public static void set(DType dtype, MemorySegment to, long element, double value) {
        if (dtype == DType.F32) {
            to.set(Raw.F32, element * Float.BYTES, (float) value);
        } else {
            Elements.setDouble(dtype, to, element, value);
        }
    }

    /** Reads n elements of a row. */
    public static void read(DType dtype, MemorySegment from, long element, double[] into, int n) {
        if (dtype == DType.F32) {
            long at = element * Float.BYTES;
            for (int i = 0; i < n; i++) {
                into[i] = from.get(Raw.F32, at + (long) i * Float.BYTES);
            }
        } else {
            for (int i = 0; i < n; i++) {
                into[i] = Elements.getDouble(dtype, from, element + i);
            }
        }
    }

    /** Writes n elements of a row, rounded to their type. */
    public static void write(DType dtype, double[] from, int n, MemorySegment to, long element) {
        if (dtype == DType.F32) {
            long at = element * Float.BYTES;
            for (int i = 0; i < n; i++) {
                to.set(Raw.F32, at + (long) i * Float.BYTES, (float) from[i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                Elements.setDouble(dtype, to, element + i, from[i]);
            }
        }
    }
}
