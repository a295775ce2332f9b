package dev.tenon.cpu.loops;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The matrix micro-kernel: up to eight rows by two vectors of accumulators, which live in registers over the whole of
 * k. Eight rows want 16 accumulators, two vectors of B and one of A, of the 32 registers that AVX-512 and NEON have;
 * where there are 16 (vectors of 8 floats: AVX2) four rows are the most that does not spill. One method a number of
 * rows: vectors that cross a method which is not inlined are boxed.
 *
 * <p>The accumulators begin at zero; what a product begins at is added afterwards by {@link #add}. Loading them made
 * tile8 too large: C1 gave up on it, and a method that C1 gives up on may never reach C2.
 */
final class VectorTile {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final long BYTES = 4L * SPECIES.length();
    /** Bytes from a row of a panel to the next; a constant, or the bounds checks stay in the loops. */
    private static final long STEP = 2 * BYTES;

    private static final ValueLayout.OfFloat F32 = Loops.F32;
    private static final Class<?> NATIVE = Segments.NATIVE;

    /** The most rows at once. */
    static final int ROWS = SPECIES.length() == 8 ? 4 : 8;

    private VectorTile() {}

    /**
     * c[rows, PANEL] = a[rows, k] b[k, PANEL].
     *
     * @param rows 1 to {@link #ROWS}
     */
    static void run(int rows, int k, Matrix a, Place b, Matrix c) {
        int row = 0;
        while (row < rows) {
            int left = rows - row;
            if (left >= 8) {
                tile8(row, k, a, b, c);
                row += 8;
            } else if (left >= 4) {
                tile4(row, k, a, b, c);
                row += 4;
            } else if (left >= 2) {
                tile2(row, k, a, b, c);
                row += 2;
            } else {
                tile1(row, k, a, b, c);
                row++;
            }
        }
    }

    /** Eight rows, from {@code row} on. */
    private static void tile8(int row, int k, Matrix left, Place panel, Matrix result) {
        MemorySegment a = left.memory();
        MemorySegment b = panel.memory();
        MemorySegment c = result.memory();
        long aStride = left.stride();
        long aOffset = left.offset() + row * aStride;
        long bOffset = panel.offset();
        long cStride = result.stride();
        long cOffset = result.offset() + row * cStride;
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || c.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        long a1 = aOffset + aStride;
        long a2 = a1 + aStride;
        long a3 = a2 + aStride;
        long a4 = a3 + aStride;
        long a5 = a4 + aStride;
        long a6 = a5 + aStride;
        long a7 = a6 + aStride;
        long c1 = cOffset + cStride;
        long c2 = c1 + cStride;
        long c3 = c2 + cStride;
        long c4 = c3 + cStride;
        long c5 = c4 + cStride;
        long c6 = c5 + cStride;
        long c7 = c6 + cStride;
        FloatVector s00 = FloatVector.zero(SPECIES);
        FloatVector s01 = FloatVector.zero(SPECIES);
        FloatVector s10 = FloatVector.zero(SPECIES);
        FloatVector s11 = FloatVector.zero(SPECIES);
        FloatVector s20 = FloatVector.zero(SPECIES);
        FloatVector s21 = FloatVector.zero(SPECIES);
        FloatVector s30 = FloatVector.zero(SPECIES);
        FloatVector s31 = FloatVector.zero(SPECIES);
        FloatVector s40 = FloatVector.zero(SPECIES);
        FloatVector s41 = FloatVector.zero(SPECIES);
        FloatVector s50 = FloatVector.zero(SPECIES);
        FloatVector s51 = FloatVector.zero(SPECIES);
        FloatVector s60 = FloatVector.zero(SPECIES);
        FloatVector s61 = FloatVector.zero(SPECIES);
        FloatVector s70 = FloatVector.zero(SPECIES);
        FloatVector s71 = FloatVector.zero(SPECIES);
        for (int i = 0; i < k; i++) {
            long at = bOffset + STEP * i;
            FloatVector b0 = FloatVector.fromMemorySegment(SPECIES, b, at, ORDER);
            FloatVector b1 = FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER);
            FloatVector x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i));
            s00 = x.fma(b0, s00);
            s01 = x.fma(b1, s01);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a1 + 4L * i));
            s10 = x.fma(b0, s10);
            s11 = x.fma(b1, s11);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a2 + 4L * i));
            s20 = x.fma(b0, s20);
            s21 = x.fma(b1, s21);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a3 + 4L * i));
            s30 = x.fma(b0, s30);
            s31 = x.fma(b1, s31);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a4 + 4L * i));
            s40 = x.fma(b0, s40);
            s41 = x.fma(b1, s41);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a5 + 4L * i));
            s50 = x.fma(b0, s50);
            s51 = x.fma(b1, s51);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a6 + 4L * i));
            s60 = x.fma(b0, s60);
            s61 = x.fma(b1, s61);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a7 + 4L * i));
            s70 = x.fma(b0, s70);
            s71 = x.fma(b1, s71);
        }
        s00.intoMemorySegment(c, cOffset, ORDER);
        s01.intoMemorySegment(c, cOffset + BYTES, ORDER);
        s10.intoMemorySegment(c, c1, ORDER);
        s11.intoMemorySegment(c, c1 + BYTES, ORDER);
        s20.intoMemorySegment(c, c2, ORDER);
        s21.intoMemorySegment(c, c2 + BYTES, ORDER);
        s30.intoMemorySegment(c, c3, ORDER);
        s31.intoMemorySegment(c, c3 + BYTES, ORDER);
        s40.intoMemorySegment(c, c4, ORDER);
        s41.intoMemorySegment(c, c4 + BYTES, ORDER);
        s50.intoMemorySegment(c, c5, ORDER);
        s51.intoMemorySegment(c, c5 + BYTES, ORDER);
        s60.intoMemorySegment(c, c6, ORDER);
        s61.intoMemorySegment(c, c6 + BYTES, ORDER);
        s70.intoMemorySegment(c, c7, ORDER);
        s71.intoMemorySegment(c, c7 + BYTES, ORDER);
    }

    /** Four rows, from {@code row} on. */
    private static void tile4(int row, int k, Matrix left, Place panel, Matrix result) {
        MemorySegment a = left.memory();
        MemorySegment b = panel.memory();
        MemorySegment c = result.memory();
        long aStride = left.stride();
        long aOffset = left.offset() + row * aStride;
        long bOffset = panel.offset();
        long cStride = result.stride();
        long cOffset = result.offset() + row * cStride;
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || c.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        long a1 = aOffset + aStride;
        long a2 = a1 + aStride;
        long a3 = a2 + aStride;
        long c1 = cOffset + cStride;
        long c2 = c1 + cStride;
        long c3 = c2 + cStride;
        FloatVector s00 = FloatVector.zero(SPECIES);
        FloatVector s01 = FloatVector.zero(SPECIES);
        FloatVector s10 = FloatVector.zero(SPECIES);
        FloatVector s11 = FloatVector.zero(SPECIES);
        FloatVector s20 = FloatVector.zero(SPECIES);
        FloatVector s21 = FloatVector.zero(SPECIES);
        FloatVector s30 = FloatVector.zero(SPECIES);
        FloatVector s31 = FloatVector.zero(SPECIES);
        for (int i = 0; i < k; i++) {
            long at = bOffset + STEP * i;
            FloatVector b0 = FloatVector.fromMemorySegment(SPECIES, b, at, ORDER);
            FloatVector b1 = FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER);
            FloatVector x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i));
            s00 = x.fma(b0, s00);
            s01 = x.fma(b1, s01);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a1 + 4L * i));
            s10 = x.fma(b0, s10);
            s11 = x.fma(b1, s11);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a2 + 4L * i));
            s20 = x.fma(b0, s20);
            s21 = x.fma(b1, s21);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a3 + 4L * i));
            s30 = x.fma(b0, s30);
            s31 = x.fma(b1, s31);
        }
        s00.intoMemorySegment(c, cOffset, ORDER);
        s01.intoMemorySegment(c, cOffset + BYTES, ORDER);
        s10.intoMemorySegment(c, c1, ORDER);
        s11.intoMemorySegment(c, c1 + BYTES, ORDER);
        s20.intoMemorySegment(c, c2, ORDER);
        s21.intoMemorySegment(c, c2 + BYTES, ORDER);
        s30.intoMemorySegment(c, c3, ORDER);
        s31.intoMemorySegment(c, c3 + BYTES, ORDER);
    }

    /** Two rows, from {@code row} on. */
    private static void tile2(int row, int k, Matrix left, Place panel, Matrix result) {
        MemorySegment a = left.memory();
        MemorySegment b = panel.memory();
        MemorySegment c = result.memory();
        long aStride = left.stride();
        long aOffset = left.offset() + row * aStride;
        long bOffset = panel.offset();
        long cStride = result.stride();
        long cOffset = result.offset() + row * cStride;
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || c.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        long a1 = aOffset + aStride;
        long c1 = cOffset + cStride;
        FloatVector s00 = FloatVector.zero(SPECIES);
        FloatVector s01 = FloatVector.zero(SPECIES);
        FloatVector s10 = FloatVector.zero(SPECIES);
        FloatVector s11 = FloatVector.zero(SPECIES);
        for (int i = 0; i < k; i++) {
            long at = bOffset + STEP * i;
            FloatVector b0 = FloatVector.fromMemorySegment(SPECIES, b, at, ORDER);
            FloatVector b1 = FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER);
            FloatVector x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i));
            s00 = x.fma(b0, s00);
            s01 = x.fma(b1, s01);
            x = FloatVector.broadcast(SPECIES, a.get(F32, a1 + 4L * i));
            s10 = x.fma(b0, s10);
            s11 = x.fma(b1, s11);
        }
        s00.intoMemorySegment(c, cOffset, ORDER);
        s01.intoMemorySegment(c, cOffset + BYTES, ORDER);
        s10.intoMemorySegment(c, c1, ORDER);
        s11.intoMemorySegment(c, c1 + BYTES, ORDER);
    }

    /** One row is bound by the latency of its two accumulators (4 cycles a step) unless k is split over four pairs. */
    private static void tile1(int row, int k, Matrix left, Place panel, Matrix result) {
        MemorySegment a = left.memory();
        MemorySegment b = panel.memory();
        MemorySegment c = result.memory();
        long aOffset = left.offset() + row * left.stride();
        long bOffset = panel.offset();
        long cOffset = result.offset() + row * result.stride();
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || c.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        FloatVector s0 = FloatVector.zero(SPECIES);
        FloatVector s1 = FloatVector.zero(SPECIES);
        FloatVector t0 = FloatVector.zero(SPECIES);
        FloatVector t1 = FloatVector.zero(SPECIES);
        FloatVector u0 = FloatVector.zero(SPECIES);
        FloatVector u1 = FloatVector.zero(SPECIES);
        FloatVector v0 = FloatVector.zero(SPECIES);
        FloatVector v1 = FloatVector.zero(SPECIES);
        int i = 0;
        for (; i + 3 < k; i += 4) {
            long at = bOffset + STEP * i;
            FloatVector x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i));
            s0 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at, ORDER), s0);
            s1 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER), s1);
            x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i + 4));
            at += STEP;
            t0 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at, ORDER), t0);
            t1 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER), t1);
            x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i + 8));
            at += STEP;
            u0 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at, ORDER), u0);
            u1 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER), u1);
            x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i + 12));
            at += STEP;
            v0 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at, ORDER), v0);
            v1 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER), v1);
        }
        for (; i < k; i++) {
            long at = bOffset + STEP * i;
            FloatVector x = FloatVector.broadcast(SPECIES, a.get(F32, aOffset + 4L * i));
            s0 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at, ORDER), s0);
            s1 = x.fma(FloatVector.fromMemorySegment(SPECIES, b, at + BYTES, ORDER), s1);
        }
        s0.add(t0).add(u0.add(v0)).intoMemorySegment(c, cOffset, ORDER);
        s1.add(t1).add(u1.add(v1)).intoMemorySegment(c, cOffset + BYTES, ORDER);
    }

    /**
     * c[rows, PANEL] = x[rows, PANEL] + start, whose stride is 0 for the same in all rows. Start may be c; rows of x
     * follow each other.
     */
    static void add(int rows, Place x, Matrix start, Matrix c) {
        MemorySegment sums = x.memory();
        MemorySegment addends = start.memory();
        MemorySegment result = c.memory();
        long sumsOffset = x.offset();
        long addendsOffset = start.offset();
        long addendsStride = start.stride();
        long resultOffset = c.offset();
        long resultStride = c.stride();
        if (sums.getClass() != NATIVE || addends.getClass() != NATIVE || result.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int row = 0; row < rows; row++) {
            long at = sumsOffset + STEP * row;
            long from = addendsOffset + addendsStride * row;
            long to = resultOffset + resultStride * row;
            FloatVector.fromMemorySegment(SPECIES, sums, at, ORDER)
                    .add(FloatVector.fromMemorySegment(SPECIES, addends, from, ORDER))
                    .intoMemorySegment(result, to, ORDER);
            FloatVector.fromMemorySegment(SPECIES, sums, at + BYTES, ORDER)
                    .add(FloatVector.fromMemorySegment(SPECIES, addends, from + BYTES, ORDER))
                    .intoMemorySegment(result, to + BYTES, ORDER);
        }
    }
}
