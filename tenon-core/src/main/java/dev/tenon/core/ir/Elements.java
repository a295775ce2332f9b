package dev.tenon.core.ir;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads and writes single elements of any type in memory: little-endian, at any alignment. Floats travel as
 * {@code double}, everything else as {@code long}.
 *
 * <p>Stores to a float type round to nearest even and overflow to infinity (f8e4m3, which has none, to its NaN); stores
 * of a {@code double} to an integer type truncate, saturate, and make NaN 0; stores of a {@code long} to a narrower
 * integer wrap.
 */
public final class Elements {
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Elements() {}

    /** The bits of the element, zero-extended. */
    public static long bits(DType dtype, MemorySegment segment, long index) {
        return switch (dtype.bits()) {
            case 64 -> segment.get(LONG, index * 8);
            case 32 -> Integer.toUnsignedLong(segment.get(INT, index * 4));
            case 16 -> Short.toUnsignedLong(segment.get(SHORT, index * 2));
            case 8 -> Byte.toUnsignedLong(segment.get(ValueLayout.JAVA_BYTE, index));
            default -> (segment.get(ValueLayout.JAVA_BYTE, index >> 1) >>> ((index & 1) * 4)) & 0xF;
        };
    }

    public static void setBits(DType dtype, MemorySegment segment, long index, long bits) {
        switch (dtype.bits()) {
            case 64 -> segment.set(LONG, index * 8, bits);
            case 32 -> segment.set(INT, index * 4, (int) bits);
            case 16 -> segment.set(SHORT, index * 2, (short) bits);
            case 8 -> segment.set(ValueLayout.JAVA_BYTE, index, (byte) bits);
            default -> {
                int shift = (int) (index & 1) * 4;
                byte old = segment.get(ValueLayout.JAVA_BYTE, index >> 1);
                segment.set(
                        ValueLayout.JAVA_BYTE, index >> 1, (byte) ((old & ~(0xF << shift)) | (bits & 0xF) << shift));
            }
        }
    }

    public static double getDouble(DType dtype, MemorySegment segment, long index) {
        return toDouble(dtype, bits(dtype, segment, index));
    }

    public static void setDouble(DType dtype, MemorySegment segment, long index, double value) {
        setBits(dtype, segment, index, fromDouble(dtype, value));
    }

    public static long getLong(DType dtype, MemorySegment segment, long index) {
        return toLong(dtype, bits(dtype, segment, index));
    }

    public static void setLong(DType dtype, MemorySegment segment, long index, long value) {
        setBits(dtype, segment, index, fromLong(dtype, value));
    }

    /** The number that the bits of an element mean. */
    public static double toDouble(DType dtype, long bits) {
        return switch (dtype) {
            case F64 -> Double.longBitsToDouble(bits);
            case F32 -> Float.intBitsToFloat((int) bits);
            case F16 -> Float.float16ToFloat((short) bits);
            case BF16 -> Float.intBitsToFloat((int) bits << 16);
            case F8E4M3, F8E5M2 -> Float8.toDouble(dtype, (int) bits);
            case U64 -> {
                double low = (bits & Long.MAX_VALUE);
                yield bits >= 0 ? low : low + 0x1p63;
            }
            default -> toLong(dtype, bits);
        };
    }

    /** The bits of the element nearest to a number; see the class for what does not fit. */
    public static long fromDouble(DType dtype, double value) {
        return switch (dtype) {
            case F64 -> Double.doubleToRawLongBits(value);
            case F32 -> Integer.toUnsignedLong(Float.floatToRawIntBits((float) value));
            case F16 -> Short.toUnsignedLong(Float.floatToFloat16(oddFloat(value)));
            case BF16 -> bfloat16(oddFloat(value));
            case F8E4M3, F8E5M2 -> Float8.fromDouble(dtype, value);
            case BOOL -> value != 0 ? 1 : 0;
            case U64 ->
                value >= 0x1p64
                        ? -1L
                        : value >= 0x1p63 ? (long) (value - 0x1p63) ^ Long.MIN_VALUE : value > 0 ? (long) value : 0;
            default -> fromLong(dtype, Math.clamp((long) value, min(dtype), max(dtype)));
        };
    }

    /** The integer that the bits mean; floats are truncated as a Java cast does. */
    public static long toLong(DType dtype, long bits) {
        return switch (dtype) {
            case I64, U64 -> bits;
            case I32 -> (int) bits;
            case I16 -> (short) bits;
            case I8 -> (byte) bits;
            case I4 -> bits << 60 >> 60;
            case U32, U16, U8, U4 -> bits;
            case BOOL -> bits != 0 ? 1 : 0;
            case F64, F32, F16, BF16, F8E4M3, F8E5M2 -> (long) toDouble(dtype, bits);
        };
    }

    /** The low bits of an integer; of a float type the bits of the nearest number. */
    public static long fromLong(DType dtype, long value) {
        return switch (dtype) {
            case BOOL -> value != 0 ? 1 : 0;
            case F64, F32, F16, BF16, F8E4M3, F8E5M2 -> fromDouble(dtype, (double) value);
            default -> dtype.bits() == 64 ? value : value & ((1L << dtype.bits()) - 1);
        };
    }

    /** The least integer of an integer type. */
    public static long min(DType dtype) {
        return dtype.isUnsigned() || dtype == DType.BOOL ? 0 : -1L << (dtype.bits() - 1);
    }

    /** The greatest integer of an integer type; for u64 the bits of it, which are those of -1. */
    public static long max(DType dtype) {
        return dtype == DType.BOOL
                ? 1
                : dtype == DType.U64 ? -1L : dtype.isUnsigned() ? (1L << dtype.bits()) - 1 : ~min(dtype);
    }

    /**
     * The number as a float whose last bit is set where it is not exact (rounding to odd). What is then rounded to
     * fewer bits comes out as if it had been rounded once: a tie of the short type can no longer be made by the first
     * rounding.
     */
    private static float oddFloat(double value) {
        float nearest = (float) value;
        if (nearest == value || Double.isNaN(value)) {
            return nearest;
        }
        int bits = Float.floatToRawIntBits(nearest);
        int truncated = Math.abs((double) nearest) > Math.abs(value) ? bits - 1 : bits;
        return Float.intBitsToFloat(truncated | 1);
    }

    private static long bfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return 0x7FC0 | (bits >>> 16 & 0x8000);
        }
        return Integer.toUnsignedLong((bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16);
    }
}
