package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.VectorAssembler.Arithmetic;
import java.util.function.Function;

/**
 * The functions that rest on the exponential: 2^k (1 + p) with r in ±ln(2)/2 and a polynomial of degree 6 for p = e^r -
 * 1 (our fit, within 4e-9). The formulas are those of the loops in Java.
 */
@SuppressWarnings("FloatingPointLiteralPrecision") // coefficients as published
abstract class ExponentialCode extends RowCode {
    private static final float LOG2_E = 1.44269504f;
    /** Adding it rounds to an integer, which is then in the low bits. */
    private static final float ROUNDER = 12582912f;

    private static final float LN2_HIGH = -0.693359375f;
    private static final float LN2_LOW = 2.12194440e-4f;
    private static final float[] POLYNOMIAL = {
        1.38145394e-3f, 8.36874545e-3f, 4.1668389e-2f, 1.66665211e-1f, 4.9999994e-1f
    };
    private static final int EXPONENT_SHIFT = 23;
    private static final int ONE_BITS = 127 << EXPONENT_SHIFT;

    ExponentialCode(Function<VectorAssembler, VectorCode> vectors) {
        super(vectors);
    }

    /**
     * e^(v + rest) from v in vector 1 and rest in 2 as (1 + p) 2^k: p in vector 3 and 2^(k + scale) in 4. Uses 2, 5.
     */
    final void split(int scale) {
        vectors.constant(4, ROUNDER);
        add(4, 1, LOG2_E);
        operate(Arithmetic.SUBTRACT, 5, 4, ROUNDER); // k
        add(2, 5, LN2_LOW);
        vectors.move(3, 1);
        add(3, 5, LN2_HIGH);
        operate(Arithmetic.ADD, 2, 2, 3); // r
        vectors.constant(3, POLYNOMIAL[0]);
        for (int i = 1; i < POLYNOMIAL.length; i++) {
            horner(3, 2, POLYNOMIAL[i]);
        }
        operate(Arithmetic.MULTIPLY, 3, 3, 2);
        vectors.multiplyThenAdd(3, 2, 2);
        vectors.shift(4, 4, EXPONENT_SHIFT);
        operate(Arithmetic.ADD_INTEGERS, 4, 4, Float.intBitsToFloat(ONE_BITS + (scale << EXPONENT_SHIFT)));
    }

    /** y = e^(x - shift), 0 below 2^-125; sums up y. */
    static final class ExpSum extends ExponentialCode {
        /** Below, a softmax takes e^x for 0. */
        private static final float LOW = -86.6f;

        ExpSum(Function<VectorAssembler, VectorCode> vectors) {
            super(vectors);
        }

        @Override
        void begin() {
            vectors.broadcast(10, argument(SCALARS));
            vectors.constant(11, LOW);
        }

        @Override
        void vector(boolean narrow) {
            operate(Arithmetic.SUBTRACT, 6, 0, 10);
            atLeast(1, 6, -88);
            atMost(1, 1, 89);
            vectors.zero(2);
            split(-1); // 2^128 is no number, twice 2^127 is infinity
            operate(Arithmetic.ADD, 3, 3, 1f);
            operate(Arithmetic.MULTIPLY, 0, 3, 4);
            operate(Arithmetic.ADD, 0, 0, 0);
            vectors.zeroWhereLess(0, 6, 11);
            if (narrow) {
                vectors.keepNarrow(0);
            }
            operate(Arithmetic.ADD, 8, 8, 0);
        }

        @Override
        boolean writes() {
            return true;
        }

        @Override
        boolean sums() {
            return true;
        }
    }

    /** x (1 + erf(x / √2)) / 2: the error function's complement is a quotient of polynomials times e^(-x²/2). */
    static final class Gelu extends ExponentialCode {
        Gelu(Function<VectorAssembler, VectorCode> vectors) {
            super(vectors);
        }

        @Override
        void begin() {
            vectors.constant(11, Float.intBitsToFloat(0x7FFF_FFFF));
        }

        @Override
        void vector(boolean narrow) {
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
            vectors.constant(to, factor);
            horner(to, 6, addend);
        }

        @Override
        boolean writes() {
            return true;
        }

        @Override
        boolean sums() {
            return false;
        }
    }
}
