package dev.tenon.cpu.loops;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;

/**
 * Inner loops over rows of windows of f32, in plain Java. Offsets are in bytes, counts in elements.
 */
public class WindowLoops {
    /** Elements past the last that loops over planes may read and write: less than four vectors. */
    public static final int SLACK = 64;

    private static final class Choice {
        static final WindowLoops CURRENT = Vectors.available() ? new VectorWindowLoops() : new WindowLoops();
    }

    /** The kernels to use now. */
    public static WindowLoops current() {
        return Choice.CURRENT;
    }

    /** What reports call these. */
    public String tier() {
        return "scalar";
    }

    /**
     * y[i] += sum over l below {@code lines}, j below {@code count} of w[l, j] x[l, i stride + j dilation], for i below
     * n.
     */
    public void correlate(Taps x, Matrix w, MemorySegment y, long yOffset, int n) {
        MemorySegment source = x.memory();
        MemorySegment weights = w.memory();
        int lines = x.lines();
        int taps = x.count();
        long xOffset = x.offset();
        long xStep = x.step();
        long wOffset = w.offset();
        long wStep = w.stride();
        long tap = 4L * x.dilation();
        long stride = 4L * x.stride();
        for (int i = 0; i < n; i++) {
            float sum = y.get(Raw.F32, yOffset + 4L * i);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + i * stride;
                long filter = wOffset + line * wStep;
                for (int j = 0; j < taps; j++) {
                    sum += weights.get(Raw.F32, filter + 4L * j) * source.get(Raw.F32, at + j * tap);
                }
            }
            y.set(Raw.F32, yOffset + 4L * i, sum);
        }
    }

    /** y[i] = the maximum of y[i] and all x[l, i stride + j dilation]; NaN where there is one. */
    public void maximum(Taps x, MemorySegment y, long yOffset, int n) {
        MemorySegment source = x.memory();
        int lines = x.lines();
        int taps = x.count();
        long xOffset = x.offset();
        long xStep = x.step();
        long tap = 4L * x.dilation();
        long stride = 4L * x.stride();
        for (int i = 0; i < n; i++) {
            float most = y.get(Raw.F32, yOffset + 4L * i);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + i * stride;
                for (int j = 0; j < taps; j++) {
                    most = Math.max(most, source.get(Raw.F32, at + j * tap));
                }
            }
            y.set(Raw.F32, yOffset + 4L * i, most);
        }
    }

    /**
     * y[i] = start + sum over j of w[j] x[i + taps[j]], for i below n and at most {@link #SLACK} beyond.
     *
     * @param memory x from the start on, y from {@code yOffset} on
     * @param taps in bytes
     */
    public void correlate(
            MemorySegment memory, int[] taps, MemorySegment w, long wOffset, float start, long yOffset, int n) {
        for (int i = 0; i < n; i++) {
            memory.set(Raw.F32, yOffset + 4L * i, start);
        }
        for (int j = 0; j < taps.length; j++) {
            multiplyAdd(memory, taps[j], w.get(Raw.F32, wOffset + 4L * j), memory, yOffset, n);
        }
    }

    /** y[i] = the maximum over j of x[i + taps[j]]; NaN where there is one. Otherwise as the sums. */
    public void maximum(MemorySegment memory, int[] taps, long yOffset, int n) {
        for (int i = 0; i < n; i++) {
            memory.set(Raw.F32, yOffset + 4L * i, memory.get(Raw.F32, taps[0] + 4L * i));
        }
        for (int j = 1; j < taps.length; j++) {
            long at = taps[j];
            for (int i = 0; i < n; i++) {
                float most = Math.max(memory.get(Raw.F32, yOffset + 4L * i), memory.get(Raw.F32, at + 4L * i));
                memory.set(Raw.F32, yOffset + 4L * i, most);
            }
        }
    }

    /** y[i] = x[i stride], bit by bit, in memory that does not overlap. */
    public void everyOther(MemorySegment x, long xOffset, int stride, MemorySegment y, long yOffset, int n) {
        if (stride == 1) {
            Raw.copy(x, xOffset, y, yOffset, 4L * n);
            return;
        }
        long step = 4L * stride;
        for (int i = 0; i < n; i++) {
            y.set(Raw.I32, yOffset + 4L * i, x.get(Raw.I32, xOffset + i * step));
        }
    }

    /** y += factor x. */
    public void multiplyAdd(MemorySegment x, long xOffset, float factor, MemorySegment y, long yOffset, int n) {
        for (int i = 0; i < n; i++) {
            float sum = y.get(Raw.F32, yOffset + 4L * i) + factor * x.get(Raw.F32, xOffset + 4L * i);
            y.set(Raw.F32, yOffset + 4L * i, sum);
        }
    }
}
