package dev.tenon.cpu.loops;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Elements as bits: layouts for memory at any alignment, copies and fills that suit a few bytes as well as many. */
public final class Raw {
    public static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;

    /**
     * Above this many bytes the call behind {@link MemorySegment#copy} is worth its price, beside loops of vectors and
     * of eight bytes.
     */
    private static final long LARGE = 1024;

    private static final long LARGE_FOR_SCALAR = 64;

    private Raw() {}

    public static boolean isPacked(DType dtype) {
        return dtype.bits() < 8;
    }

    /** Moves bytes between places that do not overlap. */
    public static void copy(MemorySegment from, long fromByte, MemorySegment to, long toByte, long bytes) {
        if (Vectors.available()
                && bytes <= LARGE
                && bytes >= VectorMoves.LEAST
                && MoveLoops.get().copy.ready()
                && Segments.isNative(from)
                && Segments.isNative(to)) {
            VectorMoves.copy(from, fromByte, to, toByte, (int) bytes);
        } else {
            scalarCopy(from, fromByte, to, toByte, bytes);
        }
    }

    /**
     * Puts rows one behind the other. May write {@link WindowLoops#SLACK} elements past the last, and read as many.
     *
     * @param bytes of a row
     */
    public static void joinRows(
            MemorySegment from, long fromByte, long fromStep, MemorySegment to, long toByte, long bytes, int rows) {
        if (Vectors.available() && MoveLoops.get().rows.ready() && Segments.isNative(from) && Segments.isNative(to)) {
            VectorMoves.rows(from, fromByte, fromStep, to, toByte, bytes, rows);
        } else {
            for (int row = 0; row < rows; row++) {
                copy(from, fromByte + row * fromStep, to, toByte + row * bytes, bytes);
            }
        }
    }

    /**
     * Copies rows of bytes; those of the source may overlap each other.
     *
     * @param bytes of a row, a multiple of four
     */
    public static void moveRows(long rows, long bytes, Matrix from, Matrix to) {
        if (!MachineLoops.move(rows, bytes, from, to)) {
            for (long row = 0; row < rows; row++) {
                long at = from.offset() + row * from.stride();
                copy(from.memory(), at, to.memory(), to.offset() + row * to.stride(), bytes);
            }
        }
    }

    /** The same without vectors. */
    static void scalarCopy(MemorySegment from, long fromByte, MemorySegment to, long toByte, long bytes) {
        if (bytes > LARGE_FOR_SCALAR) {
            MemorySegment.copy(from, fromByte, to, toByte, bytes);
            return;
        }
        int i = 0;
        for (; i <= bytes - 8; i += 8) {
            to.set(I64, toByte + i, from.get(I64, fromByte + i));
        }
        if ((bytes & 4) != 0) {
            to.set(I32, toByte + i, from.get(I32, fromByte + i));
            i += 4;
        }
        if ((bytes & 2) != 0) {
            to.set(I16, toByte + i, from.get(I16, fromByte + i));
            i += 2;
        }
        if ((bytes & 1) != 0) {
            to.set(I8, toByte + i, from.get(I8, fromByte + i));
        }
    }

    /**
     * Moves {@code count} neighbouring elements. Packed ones share bytes with their neighbours: no two threads may
     * write next to each other.
     */
    public static void copyElements(
            DType dtype, MemorySegment from, long fromIndex, MemorySegment to, long toIndex, long count) {
        if (!isPacked(dtype)) {
            long width = dtype.bytes();
            copy(from, fromIndex * width, to, toIndex * width, count * width);
        } else if (((fromIndex | toIndex | count) & 1) == 0) {
            copy(from, fromIndex / 2, to, toIndex / 2, count / 2);
        } else {
            for (long i = 0; i < count; i++) {
                Elements.setBits(dtype, to, toIndex + i, Elements.bits(dtype, from, fromIndex + i));
            }
        }
    }

    /** Writes {@code count} elements of the same bits; the same care for packed types. */
    public static void fillElements(DType dtype, MemorySegment to, long index, long count, long bits) {
        if (isPacked(dtype)) {
            for (long i = 0; i < count; i++) {
                Elements.setBits(dtype, to, index + i, bits);
            }
            return;
        }
        int width = dtype.bytes();
        long pattern = bits;
        for (int filled = width; filled < 8; filled *= 2) {
            pattern = (filled == 1 ? pattern & 0xFF : filled == 2 ? pattern & 0xFFFF : pattern & 0xFFFFFFFFL)
                    * (1 + (1L << (filled * 8)));
        }
        long at = index * width;
        long end = at + count * width;
        for (; at + 8 <= end; at += 8) {
            to.set(I64, at, pattern);
        }
        for (; at < end; at++) {
            to.set(I8, at, (byte) pattern);
            pattern >>>= 8;
        }
    }
}
