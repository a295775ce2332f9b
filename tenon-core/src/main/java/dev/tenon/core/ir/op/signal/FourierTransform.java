package dev.tenon.core.ir.op.signal;

import dev.tenon.core.ir.SizeMath;

/**
 * The discrete Fourier transform of one length, in place: radix 2 for powers of two (Cooley and Tukey 1965), any other
 * length as a convolution of one (Bluestein 1970). {@code X[k] = sum over j of x[j] exp(-2 pi i j k / n)}, not scaled;
 * the inverse has the other sign.
 *
 * <p>Not thread-safe: it keeps the convolution's memory.
 */
final class FourierTransform {
    private final int length;
    private final boolean inverse;
    /** The length of the radix 2 transforms inside. */
    private final int padded;

    private final double[] cos;
    private final double[] sin;
    /** Bluestein's chirp and the transform of its conjugate, empty for powers of two. */
    private final double[] chirpRe;

    private final double[] chirpIm;
    private final double[] filterRe;
    private final double[] filterIm;
    private final double[] workRe;
    private final double[] workIm;

    FourierTransform(int length, boolean inverse) {
        this.length = length;
        this.inverse = inverse;
        boolean simple = Integer.bitCount(length) <= 1;
        padded = simple ? length : Integer.highestOneBit(SizeMath.toInt("fourier_transform", 2, length) - 1) * 2;
        cos = new double[padded / 2];
        sin = new double[padded / 2];
        for (int i = 0; i < cos.length; i++) {
            cos[i] = Turns.cos(i, padded);
            sin[i] = -Turns.sin(i, padded);
        }
        int chirp = simple ? 0 : length;
        int work = simple ? 0 : padded;
        chirpRe = new double[chirp];
        chirpIm = new double[chirp];
        filterRe = new double[work];
        filterIm = new double[work];
        workRe = new double[work];
        workIm = new double[work];
        for (int i = 0; i < chirp; i++) {
            // the square is reduced before it meets pi: its sine would lose all digits for long signals
            long turns = (long) i * i % (2L * length);
            chirpRe[i] = Turns.cos(turns, 2L * length);
            chirpIm[i] = -Turns.sin(turns, 2L * length);
            filterRe[i] = chirpRe[i];
            filterIm[i] = -chirpIm[i];
            if (i > 0) {
                filterRe[work - i] = filterRe[i];
                filterIm[work - i] = filterIm[i];
            }
        }
        if (!simple) {
            radix2(filterRe, filterIm);
        }
    }

    /** Transforms the first elements of both arrays, real and imaginary parts. */
    void run(double[] re, double[] im) {
        // the inverse is the transform with both parts exchanged
        if (inverse) {
            forward(im, re);
        } else {
            forward(re, im);
        }
    }

    private void forward(double[] re, double[] im) {
        if (chirpRe.length == 0) {
            radix2(re, im);
            return;
        }
        java.util.Arrays.fill(workRe, 0);
        java.util.Arrays.fill(workIm, 0);
        for (int i = 0; i < length; i++) {
            workRe[i] = re[i] * chirpRe[i] - im[i] * chirpIm[i];
            workIm[i] = re[i] * chirpIm[i] + im[i] * chirpRe[i];
        }
        radix2(workRe, workIm);
        for (int i = 0; i < padded; i++) {
            double a = workRe[i] * filterRe[i] - workIm[i] * filterIm[i];
            workIm[i] = workRe[i] * filterIm[i] + workIm[i] * filterRe[i];
            workRe[i] = a;
        }
        radix2(workIm, workRe);
        for (int i = 0; i < length; i++) {
            double a = workRe[i] / padded;
            double b = workIm[i] / padded;
            re[i] = a * chirpRe[i] - b * chirpIm[i];
            im[i] = a * chirpIm[i] + b * chirpRe[i];
        }
    }

    private void radix2(double[] re, double[] im) {
        for (int i = 1, j = 0; i < padded; i++) {
            int bit = padded >> 1;
            for (; (j & bit) != 0; bit >>= 1) {
                j ^= bit;
            }
            j ^= bit;
            if (i < j) {
                swap(re, i, j);
                swap(im, i, j);
            }
        }
        for (int half = 1; half < padded; half *= 2) {
            int step = padded / (2 * half);
            for (int block = 0; block < padded; block += 2 * half) {
                for (int i = 0; i < half; i++) {
                    int low = block + i;
                    int high = low + half;
                    double a = re[high] * cos[i * step] - im[high] * sin[i * step];
                    double b = re[high] * sin[i * step] + im[high] * cos[i * step];
                    re[high] = re[low] - a;
                    im[high] = im[low] - b;
                    re[low] += a;
                    im[low] += b;
                }
            }
        }
    }

    private static void swap(double[] x, int i, int j) {
        double kept = x[i];
        x[i] = x[j];
        x[j] = kept;
    }
}
