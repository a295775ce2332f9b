package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;

/**
 * Arrays of random elements, the same everywhere for one seed: SplitMix64 (Steele, Lea, Flood 2014). Not thread-safe.
 */
public final class Seeded {
    /** No drawn float is nearer to 0. */
    private static final double NEAR = 0x1p-4;

    private long state;

    public Seeded(long seed) {
        state = seed;
    }

    public long nextLong() {
        state += 0x9E3779B97F4A7C15L;
        long z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Uniform in [0, 1). */
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1p-53;
    }

    /** Uniform in [from, to], both ends included. */
    public long nextLong(long from, long to) {
        return from + Math.floorMod(nextLong(), to - from + 1);
    }

    /**
     * Elements of any type: floats from -2 to 2 but not near 0, integers from -9 to 9 (unsigned: 1 to 9) but not 0,
     * booleans.
     */
    public NdArray array(DType dtype, long... sizes) {
        if (dtype.isFloat()) {
            return floats(dtype, -2, 2, sizes);
        }
        NdArray array = NdArray.zeros(dtype, sizes);
        int most = dtype.bits() < 8 ? 7 : 9;
        for (int i = 0; i < array.size(); i++) {
            long magnitude = nextLong(1, most);
            array.set(
                    i,
                    dtype == DType.BOOL
                            ? nextLong() & 1
                            : dtype.isUnsigned() || nextLong() < 0 ? magnitude : -magnitude);
        }
        return array;
    }

    /**
     * Floats of a range, rounded to their type, none nearer to 0 than {@link #NEAR}: quotients and signs then mean the
     * same in every type.
     */
    public NdArray floats(DType dtype, double from, double to, long... sizes) {
        if (Math.max(-from, to) < NEAR || from > to) {
            throw new IllegalArgumentException("no number from " + from + " to " + to + " is as far from 0 as " + NEAR);
        }
        double[] values = new double[NdArray.zeros(dtype, sizes).size()];
        for (int i = 0; i < values.length; i++) {
            do {
                values[i] = from + (to - from) * nextDouble();
            } while (Math.abs(values[i]) < NEAR);
        }
        return NdArray.of(TensorType.of(dtype, sizes), values);
    }

    /** Integers of a range, both ends included. */
    public NdArray integers(DType dtype, long from, long to, long... sizes) {
        NdArray array = NdArray.zeros(dtype, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, nextLong(from, to));
        }
        return array;
    }

    /** Distinct elements in random order: 0, 1, 2, ... shuffled; for whatever looks at order. */
    public NdArray shuffled(DType dtype, long... sizes) {
        NdArray array = NdArray.zeros(dtype, sizes);
        for (int i = 0; i < array.size(); i++) {
            int other = (int) nextLong(0, i);
            array.copy(i, array, other);
            array.set(other, (long) i);
        }
        return array;
    }
}
