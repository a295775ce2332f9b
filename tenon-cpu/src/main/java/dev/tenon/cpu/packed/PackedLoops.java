package dev.tenon.cpu.packed;

import dev.tenon.core.ir.op.contraction.BlockDecoder;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Dot products of a row of f32 and a packed row, in plain Java. Offsets are in bytes, sums in f32. */
final class PackedLoops {
    static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final int Q8_0_BYTES = 34;
    static final int Q4_0_BYTES = 18;
    static final int Q4_K_BYTES = 144;
    private static final int HALF = 15;
    private static final int SIX = 63;

    private PackedLoops() {}

    static float half(MemorySegment w, long at) {
        return Float.float16ToFloat(w.get(I16, at));
    }

    static float q8(MemorySegment w, long at, MemorySegment x, long xAt, long blocks) {
        float sum = 0;
        for (long b = 0; b < blocks; b++) {
            float part = 0;
            for (int i = 0; i < 32; i++) {
                part += w.get(Raw.I8, at + 2 + i) * x.get(Raw.F32, xAt + 4L * i);
            }
            sum += half(w, at) * part;
            at += Q8_0_BYTES;
            xAt += 128;
        }
        return sum;
    }

    static float q4(MemorySegment w, long at, MemorySegment x, long xAt, long blocks) {
        float sum = 0;
        for (long b = 0; b < blocks; b++) {
            float part = 0;
            for (int i = 0; i < 16; i++) {
                int two = w.get(Raw.I8, at + 2 + i);
                part += ((two & HALF) - 8) * x.get(Raw.F32, xAt + 4L * i);
                part += ((two >> 4 & HALF) - 8) * x.get(Raw.F32, xAt + 64 + 4L * i);
            }
            sum += half(w, at) * part;
            at += Q4_0_BYTES;
            xAt += 128;
        }
        return sum;
    }

    /** @param sums of each 32 elements of x, f32 */
    static float q4k(
            MemorySegment w, long at, MemorySegment x, long xAt, MemorySegment sums, long sumsAt, long blocks) {
        float sum = 0;
        for (long b = 0; b < blocks; b++) {
            float scale = half(w, at);
            float least = half(w, at + 2);
            for (int pair = 0; pair < 4; pair++) {
                float low = 0;
                float high = 0;
                for (int i = 0; i < 32; i++) {
                    int two = w.get(Raw.I8, at + 16 + 32L * pair + i);
                    low += (two & HALF) * x.get(Raw.F32, xAt + 4L * i);
                    high += (two >> 4 & HALF) * x.get(Raw.F32, xAt + 128 + 4L * i);
                }
                sum += scale * (scale(w, at, 2 * pair) * low + scale(w, at, 2 * pair + 1) * high);
                sum -= least
                        * (least(w, at, 2 * pair) * sums.get(Raw.F32, sumsAt)
                                + least(w, at, 2 * pair + 1) * sums.get(Raw.F32, sumsAt + 4));
                xAt += 256;
                sumsAt += 8;
            }
            at += Q4_K_BYTES;
        }
        return sum;
    }

    /**
     * The same of any format by the elements of w as they are, in double. The others give NaN or an infinity where a
     * part of the sum is one: where a sum overflows f32 before its scale, or where the infinities of a scale and of a
     * minimum cancel though the element is finite.
     */
    static float inFull(BlockFormat format, MemorySegment w, long at, MemorySegment x, long xAt, long blocks) {
        byte[] packed = new byte[format.bytes()];
        double[] block = new double[format.elements()];
        double sum = 0;
        for (long b = 0; b < blocks && !Double.isNaN(sum); b++) {
            MemorySegment.copy(w, Raw.I8, at + b * packed.length, packed, 0, packed.length);
            BlockDecoder.decode(format, packed, block, 0);
            for (int i = 0; i < block.length; i++) {
                sum += block[i] * x.get(Raw.F32, xAt + 4 * (b * block.length + i));
            }
        }
        return (float) sum;
    }

    /** The 6-bit scale of a run of 32 elements of a block of Q4_K. */
    static int scale(MemorySegment w, long block, int run) {
        long at = block + 4 + run;
        return run < 4
                ? w.get(Raw.I8, at) & SIX
                : w.get(Raw.I8, at + 4) & HALF | (w.get(Raw.I8, at - 4) & 0xFF) >> 6 << 4;
    }

    /** The 6-bit minimum of a run. */
    static int least(MemorySegment w, long block, int run) {
        long at = block + 4 + run;
        return run < 4
                ? w.get(Raw.I8, at + 4) & SIX
                : (w.get(Raw.I8, at + 4) & 0xFF) >> 4 | (w.get(Raw.I8, at) & 0xFF) >> 6 << 4;
    }

    /** Writes the sums of each 32 elements of a row. */
    static void sums(MemorySegment x, long xAt, MemorySegment sums, long sumsAt, long runs) {
        for (long run = 0; run < runs; run++) {
            float sum = 0;
            for (int i = 0; i < 32; i++) {
                sum += x.get(Raw.F32, xAt + 128 * run + 4L * i);
            }
            sums.set(Raw.F32, sumsAt + 4 * run, sum);
        }
    }
}
