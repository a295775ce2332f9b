package dev.tenon.cpu;

import java.lang.foreign.MemorySegment;

/** Inner loops of convolution over f32 rows, in plain Java. Offsets are in bytes, counts and strides in elements. */
class WindowKernels {
    private static final class Choice {
        static final WindowKernels CURRENT = Vectors.AVAILABLE ? new VectorWindowKernels() : new WindowKernels();
    }

    /** The kernels to use now. */
    static WindowKernels current() {
        return Choice.CURRENT;
    }

    /** What reports call these. */
    String tier() {
        return "scalar";
    }

    /** y[i] += sum over j below {@code taps} of w[j] x[i stride + j dilation], for i below n. */
    void correlate(
            MemorySegment x,
            long xOffset,
            MemorySegment w,
            long wOffset,
            int taps,
            int dilation,
            int stride,
            MemorySegment y,
            long yOffset,
            int n) {
        correlate(x, xOffset, w, wOffset, taps, dilation, stride, y, yOffset, 0, n);
    }

    static void correlate(
            MemorySegment x,
            long xOffset,
            MemorySegment w,
            long wOffset,
            int taps,
            int dilation,
            int stride,
            MemorySegment y,
            long yOffset,
            int from,
            int n) {
        for (int i = from; i < n; i++) {
            float sum = y.get(Raw.F32, yOffset + 4L * i);
            long at = xOffset + 4L * i * stride;
            for (int j = 0; j < taps; j++) {
                sum += w.get(Raw.F32, wOffset + 4L * j) * x.get(Raw.F32, at + 4L * j * dilation);
            }
            y.set(Raw.F32, yOffset + 4L * i, sum);
        }
    }
}
