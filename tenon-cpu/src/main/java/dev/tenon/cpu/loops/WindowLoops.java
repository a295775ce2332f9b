package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;

/**
 * Inner loops over rows of windows of f32, in plain Java. Offsets and steps between rows are in bytes, counts, strides
 * and dilations in elements.
 */
public class WindowLoops {
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
     * y[i] += sum over l below {@code lines}, j below {@code taps} of w[l, j] x[l, i stride + j dilation], for i below
     * n.
     */
    public void correlate(
            MemorySegment x,
            long xOffset,
            int lines,
            long xStep,
            MemorySegment w,
            long wOffset,
            long wStep,
            int taps,
            int dilation,
            int stride,
            MemorySegment y,
            long yOffset,
            int n) {
        for (int i = 0; i < n; i++) {
            float sum = y.get(Raw.F32, yOffset + 4L * i);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + 4L * i * stride;
                long filter = wOffset + line * wStep;
                for (int j = 0; j < taps; j++) {
                    sum += w.get(Raw.F32, filter + 4L * j) * x.get(Raw.F32, at + 4L * j * dilation);
                }
            }
            y.set(Raw.F32, yOffset + 4L * i, sum);
        }
    }

    /** y[i] = the maximum of y[i] and all x[l, i stride + j dilation]; NaN where there is one. */
    public void maximum(
            MemorySegment x,
            long xOffset,
            int lines,
            long xStep,
            int taps,
            int dilation,
            int stride,
            MemorySegment y,
            long yOffset,
            int n) {
        for (int i = 0; i < n; i++) {
            float most = y.get(Raw.F32, yOffset + 4L * i);
            for (int line = 0; line < lines; line++) {
                long at = xOffset + line * xStep + 4L * i * stride;
                for (int j = 0; j < taps; j++) {
                    most = Math.max(most, x.get(Raw.F32, at + 4L * j * dilation));
                }
            }
            y.set(Raw.F32, yOffset + 4L * i, most);
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
