package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;

/** Plain loops over rows: a block of a row is copied to arrays, worked on, and copied back. */
final class PlainRows {
    private static final int BLOCK = PlainBuffers.BLOCK;

    private PlainRows() {}

    static float max(MemorySegment x, long xOffset, long n) {
        return extreme(true, x, xOffset, n);
    }

    static float min(MemorySegment x, long xOffset, long n) {
        return extreme(false, x, xOffset, n);
    }

    private static float extreme(boolean largest, MemorySegment x, long xOffset, long n) {
        PlainBuffers of = PlainBuffers.get();
        float found = largest ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY;
        for (long at = 0; at < n; at += BLOCK) {
            int count = (int) Math.min(BLOCK, n - at);
            PlainBuffers.load(x, xOffset + 4 * at, of.x, count);
            found = largest ? Math.max(found, max(of.x, count)) : Math.min(found, min(of.x, count));
        }
        return found;
    }

    private static float max(float[] x, int n) {
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < n; i++) {
            max = Math.max(max, x[i]);
        }
        return max;
    }

    private static float min(float[] x, int n) {
        float min = Float.POSITIVE_INFINITY;
        for (int i = 0; i < n; i++) {
            min = Math.min(min, x[i]);
        }
        return min;
    }

    static double sum(MemorySegment x, long xOffset, long n) {
        PlainBuffers of = PlainBuffers.get();
        double sum = 0;
        for (long at = 0; at < n; at += BLOCK) {
            int count = (int) Math.min(BLOCK, n - at);
            PlainBuffers.load(x, xOffset + 4 * at, of.x, count);
            sum += sum(of.x, count);
        }
        return sum;
    }

    static double sum(float[] x, int n) {
        double s0 = 0;
        double s1 = 0;
        double s2 = 0;
        double s3 = 0;
        int i = 0;
        for (; i + 3 < n; i += 4) {
            s0 += x[i];
            s1 += x[i + 1];
            s2 += x[i + 2];
            s3 += x[i + 3];
        }
        for (; i < n; i++) {
            s0 += x[i];
        }
        return (s0 + s1) + (s2 + s3);
    }

    static void moments(MemorySegment x, long xOffset, long n, float shift, MemorySegment to, long toOffset) {
        PlainBuffers of = PlainBuffers.get();
        double sum = 0;
        double squares = 0;
        for (long at = 0; at < n; at += BLOCK) {
            int count = (int) Math.min(BLOCK, n - at);
            PlainBuffers.load(x, xOffset + 4 * at, of.x, count);
            double s0 = 0;
            double s1 = 0;
            double q0 = 0;
            double q1 = 0;
            int i = 0;
            for (; i + 1 < count; i += 2) {
                double d0 = of.x[i] - (double) shift;
                double d1 = of.x[i + 1] - (double) shift;
                s0 += d0;
                s1 += d1;
                q0 += d0 * d0;
                q1 += d1 * d1;
            }
            if (i < count) {
                double d = of.x[i] - (double) shift;
                s0 += d;
                q0 += d * d;
            }
            sum += s0 + s1;
            squares += q0 + q1;
        }
        to.set(Convert.F64, toOffset, sum);
        to.set(Convert.F64, toOffset + 8, squares);
    }

    static double expSum(MemorySegment x, long xOffset, float shift, MemorySegment y, long yOffset, int n) {
        PlainBuffers of = PlainBuffers.get();
        double sum = 0;
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            PlainBuffers.load(x, xOffset + 4L * at, of.x, count);
            sum += PlainExponentials.expSum(of, shift, count);
            PlainBuffers.store(of.y, y, yOffset + 4L * at, count);
        }
        return sum;
    }

    /** See {@link Loops#softmax}: by the loops over single rows. */
    static void softmax(Loops loops, SoftmaxKernel.Form form, Matrix x, Matrix mask, Matrix work, Matrix y) {
        int n = form.n();
        boolean masked = mask.memory().byteSize() > 0;
        for (int row = 0; row < form.rows(); row++) {
            long at = work.offset() + row * work.stride();
            MemorySegment memory = work.memory();
            MemorySegment scores = x.memory();
            long from = x.offset() + row * x.stride();
            if (form.scale() != 1 || masked) {
                loops.affine(scores, from, memory, at, form.scale(), 0, n);
                scores = memory;
                from = at;
            }
            if (masked) {
                long addend = mask.offset() + row * mask.stride();
                loops.binary(BinaryFn.ADD, memory, at, mask.memory(), addend, memory, at, n);
            }
            double sum = loops.expSum(scores, from, loops.max(scores, from, n), memory, at, n);
            long to = y.offset() + row * y.stride();
            if (form.guarded() && Double.isNaN(sum)) {
                loops.fill(y.memory(), to, 0, n);
            } else {
                loops.affine(memory, at, y.memory(), to, (float) (1 / sum), 0, n);
            }
        }
    }

    /** See {@link Loops#normalise}. */
    static void normalise(Place x, Place y, int n, NormFactors affine, Place scale, Place bias) {
        PlainBuffers of = PlainBuffers.get();
        boolean scaled = !scale.isNone();
        boolean biased = !bias.isNone();
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            PlainBuffers.load(x.memory(), x.offset() + 4L * at, of.x, count);
            normalise(of.x, of.y, affine.mean(), affine.factor(), affine.addend(), count);
            if (scaled) {
                PlainBuffers.load(scale.memory(), scale.offset() + 4L * at, of.v, count);
                multiply(of.y, of.v, count);
            }
            if (biased) {
                PlainBuffers.load(bias.memory(), bias.offset() + 4L * at, of.rest, count);
                add(of.y, of.rest, count);
            }
            PlainBuffers.store(of.y, y.memory(), y.offset() + 4L * at, count);
        }
    }

    private static void normalise(float[] x, float[] y, float mean, float factor, float addend, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.fma(x[j] - mean, factor, addend);
        }
    }

    private static void multiply(float[] y, float[] factors, int n) {
        for (int j = 0; j < n; j++) {
            y[j] *= factors[j];
        }
    }

    private static void add(float[] y, float[] addends, int n) {
        for (int j = 0; j < n; j++) {
            y[j] += addends[j];
        }
    }

    static float dot(MemorySegment a, long aOffset, MemorySegment b, long bOffset, int n) {
        PlainBuffers of = PlainBuffers.get();
        float sum = 0;
        for (int at = 0; at < n; at += BLOCK) {
            int count = Math.min(BLOCK, n - at);
            PlainBuffers.load(a, aOffset + 4L * at, of.x, count);
            PlainBuffers.load(b, bOffset + 4L * at, of.y, count);
            sum += dot(of.x, of.y, count);
        }
        return sum;
    }

    private static float dot(float[] a, float[] b, int n) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        int i = 0;
        for (; i + 3 < n; i += 4) {
            s0 += a[i] * b[i];
            s1 += a[i + 1] * b[i + 1];
            s2 += a[i + 2] * b[i + 2];
            s3 += a[i + 3] * b[i + 3];
        }
        for (; i < n; i++) {
            s0 += a[i] * b[i];
        }
        return (s0 + s1) + (s2 + s3);
    }

    /** See {@link Loops#mix}. */
    static void mix(
            MemorySegment weights,
            long weightsOffset,
            MemorySegment v,
            long vOffset,
            int size,
            MemorySegment y,
            long yOffset,
            int n) {
        PlainBuffers of = PlainBuffers.get();
        for (int at = 0; at < size; at += BLOCK) {
            int count = Math.min(BLOCK, size - at);
            PlainBuffers.load(y, yOffset + 4L * at, of.y, count);
            for (int j = 0; j < n; j++) {
                PlainBuffers.load(v, vOffset + 4L * j * size + 4L * at, of.x, count);
                addProduct(of.y, weights.get(Loops.F32, weightsOffset + 4L * j), of.x, count);
            }
            PlainBuffers.store(of.y, y, yOffset + 4L * at, count);
        }
    }

    private static void addProduct(float[] y, float weight, float[] x, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = Math.fma(weight, x[j], y[j]);
        }
    }

    /** See {@link Loops#accumulate}. */
    static void accumulate(MemorySegment x, long xOffset, MemorySegment sums, long sumsOffset, int n) {
        PlainBuffers of = PlainBuffers.get();
        for (int at = 0; at < n; at += PlainBuffers.BLOCK) {
            int count = Math.min(PlainBuffers.BLOCK, n - at);
            PlainBuffers.load(x, xOffset + 4L * at, of.x, count);
            MemorySegment.copy(sums, Convert.F64, sumsOffset + 8L * at, of.sums, 0, count);
            accumulate(of.x, of.sums, count);
            MemorySegment.copy(of.sums, 0, sums, Convert.F64, sumsOffset + 8L * at, count);
        }
    }

    private static void accumulate(float[] x, double[] sums, int n) {
        for (int j = 0; j < n; j++) {
            sums[j] += x[j];
        }
    }
}
