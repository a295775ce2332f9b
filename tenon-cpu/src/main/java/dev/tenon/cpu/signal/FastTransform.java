package dev.tenon.cpu.signal;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.signal.Turns;
import org.jspecify.annotations.Nullable;

/**
 * The discrete Fourier transform of one length, in double: passes of small radices that keep the order (Stockham's form
 * of Cooley and Tukey 1965); a length with a larger prime factor as a convolution of a smooth one (Bluestein 1970).
 * {@code X[k] = sum over j of x[j] exp(-2 pi i j k / n)}, not scaled. Immutable: what a thread writes is its
 * {@link Memory}.
 */
final class FastTransform {
    /** A pass takes as many products an element as its radix; past these the convolution is faster. */
    private static final int[] RADICES = {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};

    private final int length;
    private final int[] radices;
    private final double[] cos;
    private final double[] sin;
    /** The convolution of other lengths; null where passes do. */
    private final @Nullable Chirp chirp;

    private FastTransform(int length, int[] radices, @Nullable Chirp chirp) {
        this.length = length;
        this.radices = radices;
        this.chirp = chirp;
        int angles = chirp == null ? length : 0;
        this.cos = new double[angles];
        this.sin = new double[angles];
        for (int i = 0; i < angles; i++) {
            cos[i] = Turns.cos(i, length);
            sin[i] = -Turns.sin(i, length);
        }
    }

    static FastTransform of(int length) {
        int rest = length;
        int[] radices = new int[Integer.SIZE];
        int count = 0;
        for (int radix : RADICES) {
            for (; rest % radix == 0; rest /= radix) {
                radices[count++] = radix;
            }
        }
        return rest == 1
                ? new FastTransform(length, java.util.Arrays.copyOf(radices, count), null)
                : new FastTransform(length, new int[0], Chirp.of(length));
    }

    /** What one thread writes. */
    static final class Memory {
        final double[] re;
        final double[] im;
        private final double[] otherRe;
        private final double[] otherIm;

        private Memory(int length) {
            re = new double[length];
            im = new double[length];
            otherRe = new double[length];
            otherIm = new double[length];
        }
    }

    Memory newMemory() {
        return new Memory(chirp == null ? length : chirp.inner.length);
    }

    /** Transforms the first elements of {@code re} and {@code im}. */
    void run(Memory memory) {
        if (chirp == null) {
            passes(memory.re, memory.im, memory.otherRe, memory.otherIm);
        } else {
            chirp.run(memory, length);
        }
    }

    /** The same of the inverse, which is the transform with both parts exchanged. */
    void runInverse(Memory memory) {
        if (chirp == null) {
            passes(memory.im, memory.re, memory.otherIm, memory.otherRe);
        } else {
            chirp.runInverse(memory, length);
        }
    }

    private void passes(double[] re, double[] im, double[] otherRe, double[] otherIm) {
        double[] fromRe = re;
        double[] fromIm = im;
        double[] toRe = otherRe;
        double[] toIm = otherIm;
        int done = 1;
        for (int radix : radices) {
            int size = length / done;
            switch (radix) {
                case 4 -> four(size / 4, done, fromRe, fromIm, toRe, toIm);
                case 2 -> two(size / 2, done, fromRe, fromIm, toRe, toIm);
                default -> any(radix, size / radix, done, fromRe, fromIm, toRe, toIm);
            }
            done *= radix;
            double[] kept = fromRe;
            fromRe = toRe;
            toRe = kept;
            kept = fromIm;
            fromIm = toIm;
            toIm = kept;
        }
        if (radices.length % 2 != 0) {
            System.arraycopy(fromRe, 0, re, 0, length);
            System.arraycopy(fromIm, 0, im, 0, length);
        }
    }

    /** Runs of {@code run} elements side by side; those of a butterfly are {@code parts} runs apart. */
    private void two(int parts, int run, double[] re, double[] im, double[] toRe, double[] toIm) {
        for (int part = 0; part < parts; part++) {
            double c = cos[part * run];
            double s = sin[part * run];
            int a = part * run;
            int b = a + parts * run;
            int to = 2 * part * run;
            for (int q = 0; q < run; q++) {
                double x = re[a + q] - re[b + q];
                double y = im[a + q] - im[b + q];
                toRe[to + q] = re[a + q] + re[b + q];
                toIm[to + q] = im[a + q] + im[b + q];
                toRe[to + run + q] = x * c - y * s;
                toIm[to + run + q] = x * s + y * c;
            }
        }
    }

    private void four(int parts, int run, double[] re, double[] im, double[] toRe, double[] toIm) {
        int step = parts * run;
        for (int part = 0; part < parts; part++) {
            int angle = part * run;
            double c1 = cos[angle];
            double s1 = sin[angle];
            double c2 = cos[2 * angle];
            double s2 = sin[2 * angle];
            double c3 = cos[3 * angle];
            double s3 = sin[3 * angle];
            int from = part * run;
            int to = 4 * part * run;
            for (int q = 0; q < run; q++) {
                int a = from + q;
                int y = to + q;
                double sumRe = re[a] + re[a + 2 * step];
                double sumIm = im[a] + im[a + 2 * step];
                double otherRe = re[a + step] + re[a + 3 * step];
                double otherIm = im[a + step] + im[a + 3 * step];
                double differenceRe = re[a] - re[a + 2 * step];
                double differenceIm = im[a] - im[a + 2 * step];
                // -i times the difference of the others
                double turnedRe = im[a + step] - im[a + 3 * step];
                double turnedIm = re[a + 3 * step] - re[a + step];
                toRe[y] = sumRe + otherRe;
                toIm[y] = sumIm + otherIm;
                double one = differenceRe + turnedRe;
                double two = differenceIm + turnedIm;
                toRe[y + run] = one * c1 - two * s1;
                toIm[y + run] = one * s1 + two * c1;
                one = sumRe - otherRe;
                two = sumIm - otherIm;
                toRe[y + 2 * run] = one * c2 - two * s2;
                toIm[y + 2 * run] = one * s2 + two * c2;
                one = differenceRe - turnedRe;
                two = differenceIm - turnedIm;
                toRe[y + 3 * run] = one * c3 - two * s3;
                toIm[y + 3 * run] = one * s3 + two * c3;
            }
        }
    }

    private void any(int radix, int parts, int run, double[] re, double[] im, double[] toRe, double[] toIm) {
        int step = parts * run;
        int turn = length / radix;
        for (int part = 0; part < parts; part++) {
            for (int k = 0; k < radix; k++) {
                double c = cos[k * part * run];
                double s = sin[k * part * run];
                int to = (radix * part + k) * run;
                for (int q = 0; q < run; q++) {
                    int a = part * run + q;
                    double x = re[a];
                    double y = im[a];
                    for (int j = 1; j < radix; j++) {
                        int angle = j * k % radix * turn;
                        double other = re[a + j * step];
                        double otherIm = im[a + j * step];
                        x += other * cos[angle] - otherIm * sin[angle];
                        y += other * sin[angle] + otherIm * cos[angle];
                    }
                    toRe[to + q] = x * c - y * s;
                    toIm[to + q] = x * s + y * c;
                }
            }
        }
    }

    /** Bluestein's form: the chirp, and the transform of its conjugate over a length of a power of two. */
    private static final class Chirp {
        final FastTransform inner;
        private final double[] re;
        private final double[] im;
        private final double[] filterRe;
        private final double[] filterIm;

        private Chirp(FastTransform inner, double[] re, double[] im, Memory filter) {
            this.inner = inner;
            this.re = re;
            this.im = im;
            this.filterRe = filter.re;
            this.filterIm = filter.im;
        }

        static Chirp of(int length) {
            int padded = Integer.highestOneBit(SizeMath.toInt("dft", 2, length) - 1) * 2;
            FastTransform inner = FastTransform.of(padded);
            Memory filter = inner.newMemory();
            double[] re = new double[length];
            double[] im = new double[length];
            for (int i = 0; i < length; i++) {
                // the square is reduced before it meets pi: its sine would lose all digits for long signals
                long turns = (long) i * i % (2L * length);
                re[i] = Turns.cos(turns, 2L * length);
                im[i] = -Turns.sin(turns, 2L * length);
                filter.re[i] = re[i];
                filter.im[i] = -im[i];
                if (i > 0) {
                    filter.re[padded - i] = re[i];
                    filter.im[padded - i] = -im[i];
                }
            }
            inner.run(filter);
            return new Chirp(inner, re, im, filter);
        }

        private void run(Memory memory, int length) {
            turn(memory.re, memory.im, length, 1);
            convolve(memory, length);
            turn(memory.re, memory.im, length, 1.0 / inner.length);
        }

        private void runInverse(Memory memory, int length) {
            // by the conjugate of both: that of the transform of the conjugate
            negate(memory.im, length);
            run(memory, length);
            negate(memory.im, length);
        }

        private static void negate(double[] x, int n) {
            for (int i = 0; i < n; i++) {
                x[i] = -x[i];
            }
        }

        private void convolve(Memory memory, int length) {
            java.util.Arrays.fill(memory.re, length, inner.length, 0);
            java.util.Arrays.fill(memory.im, length, inner.length, 0);
            inner.run(memory);
            for (int i = 0; i < inner.length; i++) {
                double x = memory.re[i];
                double y = memory.im[i];
                memory.re[i] = x * filterRe[i] - y * filterIm[i];
                memory.im[i] = x * filterIm[i] + y * filterRe[i];
            }
            inner.runInverse(memory);
        }

        private void turn(double[] x, double[] y, int n, double scale) {
            for (int i = 0; i < n; i++) {
                double a = x[i] * scale;
                double b = y[i] * scale;
                x[i] = a * re[i] - b * im[i];
                y[i] = a * im[i] + b * re[i];
            }
        }
    }
}
