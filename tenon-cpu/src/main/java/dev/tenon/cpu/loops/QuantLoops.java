package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;

/** Inner loops of quantisation between f32 and bytes, in plain Java. Offsets are in bytes, counts in elements. */
public class QuantLoops {
    private static final class Choice {
        static final QuantLoops CURRENT = Vectors.available() ? new VectorQuantLoops() : new QuantLoops();
    }

    /** The kernels to use now. */
    public static QuantLoops current() {
        return Choice.CURRENT;
    }

    /** What reports call these. */
    public String tier() {
        return "scalar";
    }

    /** y (bytes) = round(x / scale) + zero between least and largest; 0 for NaN. */
    public void quantize(MemorySegment x, long xOffset, ByteScale to, MemorySegment y, long yOffset, long n) {
        float scale = to.scale();
        float zero = to.zero();
        float least = to.least();
        float largest = to.largest();
        for (long i = 0; i < n; i++) {
            double value = Math.rint(x.get(Raw.F32, xOffset + 4 * i) / scale) + zero;
            y.set(Raw.I8, yOffset + i, (byte) (int) Math.min(Math.max(value, least), largest));
        }
    }

    /** y = (x - zero) scale, x being bytes. */
    public void dequantize(
            MemorySegment x,
            long xOffset,
            boolean signed,
            float scale,
            float zero,
            MemorySegment y,
            long yOffset,
            long n) {
        int mask = signed ? -1 : 0xFF;
        for (long i = 0; i < n; i++) {
            y.set(Raw.F32, yOffset + 4 * i, ((x.get(Raw.I8, xOffset + i) & mask) - zero) * scale);
        }
    }

    /**
     * Widens the range (two f32: smallest, at most 0, and largest, at least 0) to hold all of x; NaN where x has one.
     */
    public void range(MemorySegment x, long xOffset, int n, MemorySegment range, long rangeOffset) {
        float min = range.get(Raw.F32, rangeOffset);
        float max = range.get(Raw.F32, rangeOffset + 4);
        for (int i = 0; i < n; i++) {
            float value = x.get(Raw.F32, xOffset + 4L * i);
            min = Math.min(min, value);
            max = Math.max(max, value);
        }
        range.set(Raw.F32, rangeOffset, min);
        range.set(Raw.F32, rangeOffset + 4, max);
    }
}
