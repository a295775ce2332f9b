package dev.tenon.core.ir.op.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.UnaryFn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Names the arguments on which {@link UnaryAccuracy} is checked: all 65536 numbers of f16 and bf16; of f32, for every
 * exponent and both signs the ends and 40 random mantissas, which includes zeros, infinities, NaN and subnormal
 * numbers, and the neighbourhoods of every place where a function has a zero, a pole, a change of formula or the end of
 * its range.
 */
public final class UnarySweep {
    private static final int[] MANTISSAS = {0, 1, 2, 3, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFD, 0x7FFFFE, 0x7FFFFF};
    private static final int RANDOM_MANTISSAS = 40;
    /** Numbers on either side of a place. */
    private static final int NEIGHBOURS = 24;

    private static final double[] PLACES = {
        0.25, 0.3466, 0.5, 0.6931, 0.8047, 0.9277, 1, 1.25, 1.5, 2, 2.5, 2.857, 3, 4, 5, 6, 7.9053, 8, 9.0109, 10,
        10.05, 10.66, 11, 12, 13.2, 14.2, 14.5, 15, 16, 17.33, 18.7, 20, 22.18, 40, 86.6, 87.3365, 88.3763, 88.7228,
        89.4, 97.3, 100, 103.2789, 103.9721, 104, 108.9, 126, 127, 128, 149, 150, 172, 1e4, 3.4e38, 8388608, 16777216,
        4.0e18, 1.8e19
    };

    /** Where the remainder by pi/2 is smallest, of all numbers of f32 (found by trying them all). */
    private static final int[] NEAR_MULTIPLES_OF_HALF_PI = {
        0x6f79be45,
        0x50a3e87f,
        0x6ff9be45,
        0x5123e87f,
        0x437ce5f1,
        0x7079be45,
        0x6a1976f1,
        0x53b146a6,
        0x65898498,
        0x51a3e87f,
        0x43fce5f1,
        0x77584625,
        0x4c2332e9,
        0x4096cbe4,
        0x6c55da58,
        0x70f9be45
    };

    private UnarySweep() {}

    /**
     * Returns the functions, those with parameters with typical ones that f32 holds: every function of floats to
     * floats.
     */
    public static List<Unary> functions() {
        List<Unary> all = new ArrayList<>();
        for (UnaryFn fn : UnaryFn.values()) {
            if (fn.accepts().test(DType.F32) && !fn.isTest()) {
                fn.typical().forEach(with -> all.add(new Unary(fn, with.alpha(), with.beta())));
            }
        }
        all.add(new Unary(UnaryFn.LEAKY_RELU, 0, 0)); // its limit at -infinity
        return List.copyOf(all);
    }

    /**
     * Returns the arguments, as numbers of the type.
     *
     * @throws IllegalArgumentException for other types than f32, f16 and bf16
     */
    public static double[] arguments(DType dtype) {
        return switch (dtype) {
            case F32 -> singles();
            case F16, BF16 -> {
                double[] all = new double[1 << 16];
                Arrays.setAll(all, bits -> Elements.toDouble(dtype, bits));
                yield all;
            }
            case F64, F8E4M3, F8E5M2, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
                throw new IllegalArgumentException("unary sweep: has no arguments of " + dtype);
        };
    }

    private static double[] singles() {
        List<Integer> bits = new ArrayList<>();
        Random random = new Random(11);
        for (int exponent = 0; exponent < 256; exponent++) {
            for (int mantissa : MANTISSAS) {
                bits.add(exponent << 23 | mantissa);
            }
            for (int i = 0; i < RANDOM_MANTISSAS; i++) {
                bits.add(exponent << 23 | random.nextInt(1 << 23));
            }
        }
        for (double place : PLACES) {
            neighbours(bits, Float.floatToIntBits((float) place), NEIGHBOURS);
        }
        for (int quarter = 1; quarter <= 64; quarter++) {
            neighbours(bits, Float.floatToIntBits((float) (quarter * Math.PI / 2)), 2);
        }
        for (int near : NEAR_MULTIPLES_OF_HALF_PI) {
            neighbours(bits, near, 2);
        }
        // where tails live, evenly
        for (int i = 1; i <= 4000; i++) {
            bits.add(Float.floatToIntBits(i * 0.0277f));
        }
        double[] all = new double[2 * bits.size()];
        for (int i = 0; i < bits.size(); i++) {
            all[2 * i] = Float.intBitsToFloat(bits.get(i));
            all[2 * i + 1] = Float.intBitsToFloat(bits.get(i) | 1 << 31);
        }
        return all;
    }

    private static void neighbours(List<Integer> bits, int centre, int each) {
        for (int i = -each; i <= each; i++) {
            bits.add(centre + i);
        }
    }
}
