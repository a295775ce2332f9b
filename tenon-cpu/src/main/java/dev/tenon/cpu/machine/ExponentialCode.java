package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.VexAssembler.Arithmetic;

/**
 * The functions that rest on the exponential: 2^k (1 + p) with r in ±ln(2)/2 and a polynomial of degree 6 for p = e^r -
 * 1 (our fit, within 4e-9). The formulas are those of the loops in Java.
 */
@SuppressWarnings("FloatingPointLiteralPrecision") // coefficients as published
abstract class ExponentialCode extends RowCode {
    private static final float[] POLYNOMIAL = {
        Exponential.E5, Exponential.E4, Exponential.E3, Exponential.E2, Exponential.E1
    };
    /** 2^r for r in ±1/2 (our fit, within 1e-7; 1 at 0). */
    private static final float[] BINARY = {0.00132647261f, 0.00967151299f, 0.0555073358f, 0.240222424f, 0.693147004f, 1
    };

    /** e^(r/2) for r in ±ln(2) (our fit, within 1.1e-7). */
    private static final float[] SQUARES = {2.59765657e-4f, 0.00261814590f, 0.0208338946f, 0.124998078f, 0.5f, 1};

    private static final float HALF_LOG2_E = -0.72134752f;
    private static final float TWICE_LN2_HIGH = 1.38671875f;
    private static final float TWICE_LN2_LOW = 4.2438888e-4f;

    /** From here on a gelu is its argument, or 0. */
    private static final float MOST_GELU = 14.875f;

    /** Leaves exponent and two bits of a float. */
    private static final int QUARTER_SHIFT = 21;

    /**
     * erfc(a / √2) e^(a²/2) / 2 from the beginnings of the quarters of 1 + a in [2, 16), then of those in [1, 2): the
     * highest power first (our fit, within 1e-7).
     */
    private static final float[][] MILLS = {
        {
            -0.00200631842f, -0.000845462375f, -0.000363548985f, -0.000178028713f, -6.8673311e-05f, -2.16412882e-05f,
            -8.0385762e-06f, -3.23172117e-06f, -1.15149328e-06f, -3.36716482e-07f, -1.19316795e-07f, -4.74754565e-08f,
            -0.0200476553f, -0.0113087706f, -0.00560092553f, -0.00476335688f
        },
        {
            0.0086694248f, 0.00390410656f, 0.00186850945f, 0.000973193615f, 0.000497084169f, 0.000176153233f,
            7.27651714e-05f, 3.33722855e-05f, 1.57810555e-05f, 5.19654122e-06f, 2.06256072e-06f, 9.3078603e-07f,
            0.0607944503f, 0.0362243094f, 0.0215310212f, 0.0145501914f
        },
        {
            -0.0249440633f, -0.0124502992f, -0.00667324429f, -0.00381886726f, -0.00228156801f, -0.000950071611f,
            -0.000453532411f, -0.000239621164f, -0.000135893046f, -5.36923944e-05f, -2.50478261e-05f, -1.31306215e-05f,
            -0.132773012f, -0.0841655582f, -0.0546547547f, -0.0367701836f
        },
        {
            0.0620918162f, 0.035182517f, 0.0213082805f, 0.0136465793f, 0.00914972648f, 0.00460372027f,
            0.00259448658f, 0.00158997613f, 0.00103806506f, 0.000509895908f, 0.000285675953f, 0.00017537942f,
            0.249988809f, 0.170077905f, 0.118751056f, 0.0849647447f
        },
        {
            -0.137363434f, -0.0902711973f, -0.0627380013f, -0.0456138588f, -0.0343998745f, -0.0212994926f,
            -0.0143456692f, -0.0102663245f, -0.00768772839f, -0.0047531575f, -0.00321848993f, -0.00231988565f,
            -0.398942083f, -0.295434028f, -0.224131823f, -0.173768505f
        },
        {
            0.261578292f, 0.20578067f, 0.168101996f, 0.14133133f, 0.12151394f, 0.0944106355f,
            0.0769193023f, 0.0647793114f, 0.0558934771f, 0.0437987894f, 0.03597489f, 0.0305094142f,
            0.5f, 0.414032102f, 0.349618822f, 0.30023247f
        }
    };

    private static final int EXPONENT_SHIFT = 23;
    private static final int ONE_BITS = 127 << EXPONENT_SHIFT;

    ExponentialCode(int lanes, boolean stream, boolean sums) {
        super(lanes, true, stream, sums);
    }

    /**
     * e^(v + rest) from v in vector 1 and rest in 2 as (1 + p) 2^k: p in vector 3 and 2^(k + scale) in 4. Uses 2, 5.
     */
    final void split(int scale) {
        set(4, Exponential.ROUNDER);
        add(4, 1, Exponential.LOG2_E);
        operate(Arithmetic.SUBTRACT, 5, 4, Exponential.ROUNDER); // k
        add(2, 5, Exponential.LN2_LOW);
        vectors.move(3, 1);
        add(3, 5, Exponential.LN2_HIGH);
        operate(Arithmetic.ADD, 2, 2, 3); // r
        set(3, POLYNOMIAL[0]);
        for (int i = 1; i < POLYNOMIAL.length; i++) {
            horner(3, 2, POLYNOMIAL[i]);
        }
        operate(Arithmetic.MULTIPLY, 3, 3, 2);
        vectors.multiplyThenAdd(3, 2, 2);
        vectors.shift(4, 4, EXPONENT_SHIFT);
        operate(Arithmetic.ADD_INTEGERS, 4, 4, Float.intBitsToFloat(ONE_BITS + (scale << EXPONENT_SHIFT)));
    }

    /** e^v with instructions of AVX-512, which scale: v in vector 1; the result is vector 3 times 2 to vector 5. */
    final void wideSplit(VectorAssembler wide) {
        wideReduce(wide);
        horner(3, 1, 1);
        horner(3, 1, 1);
    }

    /** e^v without its first two terms: v in vector 1, which becomes r, the exponent in 5, (e^r - 1 - r) / r² in 3. */
    final void wideReduce(VectorAssembler wide) {
        operate(Arithmetic.MULTIPLY, 5, 1, Exponential.LOG2_E);
        wide.round512(5, 5);
        add(1, 5, Exponential.LN2_HIGH);
        add(1, 5, Exponential.LN2_LOW);
        set(3, POLYNOMIAL[0]);
        for (int i = 1; i < POLYNOMIAL.length; i++) {
            horner(3, 1, POLYNOMIAL[i]);
        }
    }

    /**
     * e^v for v of at most 0 in vector 6, by 2^t with t = v log2(e): vector 3 times 2 to vector 5. What rounding t
     * loses is 2^-24 of v, so that small results have fewer digits than large ones. What t is above or below a whole
     * number is exact: a sum whose largest term grows a little with each row is multiplied by a little less than 1 over
     * and over, and errors of one sign would add up.
     */
    private void boundedSplit(VectorAssembler wide) {
        operate(Arithmetic.MULTIPLY, 5, 6, Exponential.LOG2_E);
        wide.fraction512(1, 5); // 0 of an infinity
        operate(Arithmetic.SUBTRACT, 5, 5, 1);
        set(3, BINARY[0]);
        for (int i = 1; i < BINARY.length; i++) {
            horner(3, 1, BINARY[i]);
        }
    }

    /** The constants of {@link #shiftedExponential}. */
    final void keepExponential() {
        keep(POLYNOMIAL);
        keep(Exponential.LOG2_E, Exponential.LN2_HIGH, Exponential.LN2_LOW, 1, -110, 89);
    }

    /** The same for arguments of at most the shift. */
    final void keepBoundedExponential() {
        keep(BINARY);
        keep(Exponential.LOG2_E);
    }

    /**
     * e^(x - shift): x in vector 0, where the result goes, the shift in 10.
     *
     * @param bounded whether x is at most the shift
     */
    final void shiftedExponential(boolean bounded) {
        operate(Arithmetic.SUBTRACT, 6, 0, 10);
        VectorAssembler wide = vectors.wide();
        if (wide != null && bounded) {
            boundedSplit(wide);
            wide.scale512(0, 3, 5);
            return;
        }
        atLeast(1, 6, -110);
        if (!bounded) {
            atMost(1, 1, 89);
        }
        if (wide != null) {
            wideSplit(wide);
            wide.scale512(0, 3, 5);
            return;
        }
        vectors.zero(2);
        split(bounded ? 64 : 0); // results may be subnormal
        operate(Arithmetic.ADD, 3, 3, 1f);
        if (bounded) {
            operate(Arithmetic.MULTIPLY, 0, 3, 4);
            operate(Arithmetic.MULTIPLY, 0, 0, 0x1p-64f);
            return;
        }
        // 2^k as two factors, the first 2^(k/2): 2^128 is no number
        operate(Arithmetic.ADD, 4, 5, Exponential.ROUNDER);
        vectors.shiftRight(2, 4, 1);
        vectors.shift(2, 2, EXPONENT_SHIFT);
        operate(Arithmetic.ADD_INTEGERS, 2, 2, Float.intBitsToFloat(ONE_BITS));
        vectors.shift(4, 4, EXPONENT_SHIFT);
        operate(Arithmetic.SUBTRACT_INTEGERS, 4, 4, 2);
        operate(Arithmetic.ADD_INTEGERS, 4, 4, Float.intBitsToFloat(2 * ONE_BITS));
        operate(Arithmetic.MULTIPLY, 0, 3, 2);
        operate(Arithmetic.MULTIPLY, 0, 0, 4);
    }

    /** The constants of {@link #gelu}; vector 11 is one with vectors of 8 floats. */
    final void keepGelu() {
        if (vectors.wide() != null) {
            keep(SQUARES);
            keep(MOST_GELU, HALF_LOG2_E, Exponential.ROUNDER, TWICE_LN2_HIGH, TWICE_LN2_LOW, -0f);
        } else {
            vectors.constant(11, Float.intBitsToFloat(0x7FFF_FFFF));
        }
    }

    /** x (1 + erf(x / √2)) / 2 of vector 0, in place. */
    final void gelu() {
        VectorAssembler wide = vectors.wide();
        if (wide != null) {
            wideGelu(wide);
        } else {
            quotientGelu();
        }
    }

    /**
     * max(x, 0) - a e^(-a²/2) m(a) with a = |x|, within 6 ulp: the exponential from r = -a² - k 2 ln(2), which is
     * rounded once, and for m, that is erfc(a / √2) e^(a²/2) / 2, a polynomial for each quarter of an octave of 1 + a.
     */
    private void wideGelu(VectorAssembler wide) {
        set(6, MOST_GELU);
        wide.smallerMagnitude512(6, 0, 6); // a
        operate(Arithmetic.MULTIPLY, 1, 6, 6);
        set(4, Exponential.ROUNDER);
        add(4, 1, HALF_LOG2_E);
        operate(Arithmetic.SUBTRACT, 5, 4, Exponential.ROUNDER); // k
        operate(Arithmetic.MULTIPLY, 2, 5, TWICE_LN2_HIGH);
        wide.negativeMultiplySubtract512(2, 6, 6);
        add(2, 5, TWICE_LN2_LOW); // r
        set(3, SQUARES[0]);
        for (int i = 1; i < SQUARES.length; i++) {
            horner(3, 2, SQUARES[i]);
        }
        operate(Arithmetic.ADD, 1, 6, 1f);
        vectors.shiftRight(7, 1, QUARTER_SHIFT); // which quarter, in its low four bits
        vectors.shift(4, 7, QUARTER_SHIFT);
        operate(Arithmetic.SUBTRACT, 4, 1, 4); // from its beginning
        wide.choose512(1, 7, MILLS[0]);
        for (int i = 1; i < MILLS.length; i++) {
            wide.choose512(2, 7, MILLS[i]);
            vectors.multiplyThenAdd(1, 4, 2);
        }
        operate(Arithmetic.MULTIPLY, 1, 1, 6);
        operate(Arithmetic.MULTIPLY, 1, 1, 3);
        wide.scale512(1, 1, 5);
        atLeast(0, 0, -0f);
        operate(Arithmetic.SUBTRACT, 0, 0, 1);
    }

    /** By a quotient of polynomials. */
    private void quotientGelu() {
        operate(Arithmetic.AND, 6, 0, 11);
        atMost(6, 6, 15); // a
        operate(Arithmetic.MULTIPLY, 7, 6, 6); // s
        operate(Arithmetic.MULTIPLY, 1, 7, -0.5f);
        operate(Arithmetic.SUBTRACT, 2, 7, 7);
        operate(Arithmetic.SUBTRACT, 2, 2, 7);
        vectors.multiplyAdd(2, 6, 6);
        operate(Arithmetic.MULTIPLY, 2, 2, -0.5f); // what rounding s left
        split(64);
        polynomial(1, 0.00415328005f, 0.0408814996f);
        polynomial(2, 0.183970973f, 0.439286917f);
        vectors.multiplyThenAdd(1, 7, 2);
        operate(Arithmetic.MULTIPLY, 2, 6, 0.5f);
        vectors.multiplyThenAdd(1, 7, 2); // above the line
        polynomial(2, 0.102480799f, 0.471413672f);
        add(2, 7, 0.0104106199f);
        polynomial(5, 1.20555723f, 1.67645872f);
        vectors.multiplyThenAdd(2, 7, 5);
        horner(2, 6, 1); // below
        operate(Arithmetic.DIVIDE, 1, 1, 2);
        vectors.multiplyThenAdd(3, 1, 1);
        operate(Arithmetic.MULTIPLY, 3, 3, 4);
        atLeast(0, 0, -0f);
        add(0, 3, -0x1p-64f);
    }

    /** to = a factor + addend. */
    private void polynomial(int to, float factor, float addend) {
        set(to, factor);
        horner(to, 6, addend);
    }

    /** y = e^(x - shift), 0 where {@link #shiftedExponential} says; sums up y. */
    static final class ExpSum extends ExponentialCode {
        /** @param stream whether y goes past the caches */
        ExpSum(int lanes, boolean stream) {
            super(lanes, stream, true);
        }

        @Override
        void begin() {
            keepExponential();
            vectors.broadcast(10, argument(SCALARS));
        }

        @Override
        void vector(boolean narrow) {
            shiftedExponential(false);
            if (narrow) {
                vectors.keepNarrow(0);
            }
            operate(Arithmetic.ADD, 8, 8, 0);
        }
    }

    /** x (1 + erf(x / √2)) / 2: the error function's complement is a quotient of polynomials times e^(-x²/2). */
    static final class Gelu extends ExponentialCode {
        Gelu(int lanes) {
            super(lanes, false, false);
        }

        @Override
        void begin() {
            keepGelu();
        }

        @Override
        void vector(boolean narrow) {
            gelu();
        }
    }
}
