package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * Copies of a few to a few hundred bytes on the Vector API: a tenth of the time that a loop of eight-byte moves takes,
 * and no call as {@link MemorySegment#copy} has.
 */
public final class VectorMoves {
    private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Byte> HALF = ByteVector.SPECIES_256;
    private static final VectorSpecies<Byte> QUARTER = ByteVector.SPECIES_128;
    private static final int BYTES = SPECIES.length();
    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private static final VectorSpecies<Integer> FOUR = IntVector.SPECIES_128;
    /** Elements of two vectors in turn: of their first halves, of their second halves. */
    private static final VectorShuffle<Integer> LOW_HALVES = VectorShuffle.fromValues(FOUR, 0, 4, 1, 5);

    private static final VectorShuffle<Integer> HIGH_HALVES = VectorShuffle.fromValues(FOUR, 2, 6, 3, 7);

    /** The fewest bytes that these copies take. */
    static final int LEAST = 16;

    private VectorMoves() {}

    /** Copies {@link #LEAST} bytes or more. The last move overlaps the one before it: masks cost several moves. */
    static void copy(MemorySegment from, long fromByte, MemorySegment to, long toByte, int bytes) {
        if (from.getClass() != NATIVE || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        if (bytes >= BYTES) {
            for (int i = 0; i <= bytes - BYTES; i += BYTES) {
                ByteVector.fromMemorySegment(SPECIES, from, fromByte + i, ORDER)
                        .intoMemorySegment(to, toByte + i, ORDER);
            }
            int last = bytes - BYTES;
            ByteVector.fromMemorySegment(SPECIES, from, fromByte + last, ORDER)
                    .intoMemorySegment(to, toByte + last, ORDER);
        } else if (bytes >= 32) {
            int last = bytes - 32;
            ByteVector a = ByteVector.fromMemorySegment(HALF, from, fromByte, ORDER);
            ByteVector.fromMemorySegment(HALF, from, fromByte + last, ORDER)
                    .intoMemorySegment(to, toByte + last, ORDER);
            a.intoMemorySegment(to, toByte, ORDER);
        } else {
            int last = bytes - 16;
            ByteVector a = ByteVector.fromMemorySegment(QUARTER, from, fromByte, ORDER);
            ByteVector.fromMemorySegment(QUARTER, from, fromByte + last, ORDER)
                    .intoMemorySegment(to, toByte + last, ORDER);
            a.intoMemorySegment(to, toByte, ORDER);
        }
    }

    /**
     * Cuts a row of whole panels of two vectors each at their borders, {@code step} bytes from one panel to the next.
     */
    public static void spread(MemorySegment from, long fromByte, int panels, MemorySegment to, long toByte, long step) {
        if (from.getClass() != NATIVE || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        long at = toByte;
        for (int i = 0; i < panels; i++) {
            long source = fromByte + 2L * BYTES * i;
            ByteVector a = ByteVector.fromMemorySegment(SPECIES, from, source, ORDER);
            ByteVector b = ByteVector.fromMemorySegment(SPECIES, from, source + BYTES, ORDER);
            a.intoMemorySegment(to, at, ORDER);
            b.intoMemorySegment(to, at + BYTES, ORDER);
            at += step;
        }
    }

    /**
     * Copies rows by whole vectors, in order: a vector may write past its row, where the next row follows. After the
     * last row, memory must be free to write.
     */
    static void rows(
            MemorySegment from, long fromByte, long fromStep, MemorySegment to, long toByte, long bytes, int rows) {
        if (from.getClass() != NATIVE || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int row = 0; row < rows; row++) {
            long source = fromByte + row * fromStep;
            long target = toByte + row * bytes;
            for (long i = 0; i < bytes; i += BYTES) {
                ByteVector.fromMemorySegment(SPECIES, from, source + i, ORDER).intoMemorySegment(to, target + i, ORDER);
            }
        }
    }

    /**
     * Turns a block of 4-byte elements around: element (row, column) goes from
     * {@code fromByte + 4 row + column fromStep} to {@code toByte + row toStep + 4 column}, four by four; there are
     * four rows and columns at least, and the last four may overlap those before. Steps are in bytes.
     */
    static void transpose4(
            MemorySegment from,
            long fromByte,
            long fromStep,
            MemorySegment to,
            long toByte,
            long toStep,
            int rows,
            int columns) {
        if (from.getClass() != NATIVE || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        int column = 0;
        while (true) {
            long source = fromByte + column * fromStep;
            long target = toByte + 4L * column;
            int row = 0;
            while (true) {
                long at = source + 4L * row;
                IntVector a = IntVector.fromMemorySegment(FOUR, from, at, ORDER);
                IntVector b = IntVector.fromMemorySegment(FOUR, from, at + fromStep, ORDER);
                IntVector c = IntVector.fromMemorySegment(FOUR, from, at + 2 * fromStep, ORDER);
                IntVector d = IntVector.fromMemorySegment(FOUR, from, at + 3 * fromStep, ORDER);
                // a0 c0 a1 c1, a2 c2 a3 c3, and so for b and d
                IntVector ac = a.rearrange(LOW_HALVES, c);
                IntVector ca = a.rearrange(HIGH_HALVES, c);
                IntVector bd = b.rearrange(LOW_HALVES, d);
                IntVector db = b.rearrange(HIGH_HALVES, d);
                long put = target + row * toStep;
                ac.rearrange(LOW_HALVES, bd).intoMemorySegment(to, put, ORDER);
                ac.rearrange(HIGH_HALVES, bd).intoMemorySegment(to, put + toStep, ORDER);
                ca.rearrange(LOW_HALVES, db).intoMemorySegment(to, put + 2 * toStep, ORDER);
                ca.rearrange(HIGH_HALVES, db).intoMemorySegment(to, put + 3 * toStep, ORDER);
                if (row == rows - 4) {
                    break;
                }
                row = Math.min(row + 4, rows - 4);
            }
            if (column == columns - 4) {
                return;
            }
            column = Math.min(column + 4, columns - 4);
        }
    }

    /**
     * The same for three columns, whose rows of the result lie one behind the other. Returns how many rows it did: a
     * move writes the element behind a row, so some rows are left.
     */
    static int transpose3(MemorySegment from, long fromByte, long fromStep, MemorySegment to, long toByte, int rows) {
        if (from.getClass() != NATIVE || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        int row = 0;
        for (; row < rows - 4; row += 4) {
            long at = fromByte + 4L * row;
            IntVector a = IntVector.fromMemorySegment(FOUR, from, at, ORDER);
            IntVector b = IntVector.fromMemorySegment(FOUR, from, at + fromStep, ORDER);
            IntVector c = IntVector.fromMemorySegment(FOUR, from, at + 2 * fromStep, ORDER);
            IntVector ac = a.rearrange(LOW_HALVES, c);
            IntVector ca = a.rearrange(HIGH_HALVES, c);
            IntVector bb = b.rearrange(LOW_HALVES, b);
            IntVector bc = b.rearrange(HIGH_HALVES, b);
            long put = toByte + 12L * row;
            ac.rearrange(LOW_HALVES, bb).intoMemorySegment(to, put, ORDER);
            ac.rearrange(HIGH_HALVES, bb).intoMemorySegment(to, put + 12, ORDER);
            ca.rearrange(LOW_HALVES, bc).intoMemorySegment(to, put + 24, ORDER);
            ca.rearrange(HIGH_HALVES, bc).intoMemorySegment(to, put + 36, ORDER);
        }
        return row;
    }
}
