package dev.tenon.core.ir.fn;

/** Formulas in float64 that neither overflow inside nor cancel, where the plain ones would. */
final class Formulas {
    private static final double LN2 = 0.6931471805599453;
    private static final double SQRT_HALF = 0.7071067811865476;
    /** What {@link #SQRT_HALF} lacks of the number. */
    private static final double SQRT_HALF_REST = -4.833646656726457e-17;

    static final double SQRT_2_OVER_PI = 0.7978845608028654;
    private static final double TWO_OVER_SQRT_PI = 1.1283791670955126;
    /** Below its negative, gelu is less than half the smallest double. */
    private static final double GELU_TAIL = 40;

    private Formulas() {}

    /** 1 / (1 + e^-x); the exponential never overflows. */
    static double sigmoid(double x) {
        double e = Math.exp(-Math.abs(x));
        return x >= 0 ? 1 / (1 + e) : e / (1 + e);
    }

    /** log(1 + e^x); the exponential never overflows. */
    static double softplus(double x) {
        return Math.max(x, 0.0) + Math.log1p(Math.exp(-Math.abs(x)));
    }

    /** IEEE 754 pow; Java's own gives NaN for pow(1, NaN) and pow(-1, infinity), where the standard has 1. */
    static double pow(double a, double b) {
        return a == 1 || (a == -1 && Double.isInfinite(b)) ? 1 : Math.pow(a, b);
    }

    /** The remainder that has the divisor's sign. */
    static double mod(double a, double b) {
        double rest = a % b;
        if (rest == 0) {
            return Math.copySign(0.0, b);
        }
        return (rest < 0) == (b < 0) ? rest : rest + b;
    }

    /** x gate; the limit 0 where a gate of 0 meets an infinite x. */
    static double gated(double x, double gate) {
        return gate == 0 && Double.isInfinite(x) ? Math.copySign(0.0, x) : x * gate;
    }

    /**
     * x/2 erfc(-x / sqrt 2): 1 + erf would cancel for negative x. erfc multiplies a relative error of its argument by
     * x^2, so what the product rounds off is given back to first order.
     */
    static double gelu(double x) {
        if (Math.abs(x) > GELU_TAIL) {
            return x > 0 ? x : -0.0;
        }
        double z = -x * SQRT_HALF;
        double rest = Math.fma(-x, SQRT_HALF, -z) - x * SQRT_HALF_REST;
        return 0.5 * x * (ErrorFunction.erfc(z) - TWO_OVER_SQRT_PI * Math.exp(-z * z) * rest);
    }

    static double hardSigmoid(double x, double alpha, double beta) {
        return Math.max(0.0, Math.min(1.0, alpha * x + beta));
    }

    static double elu(double x, double alpha) {
        return x >= 0 ? x : alpha * Math.expm1(x);
    }

    /** Exact for powers of two: the exponent is split off first. */
    static double log2(double x) {
        if (!(x > 0) || Double.isInfinite(x)) {
            return Math.log(x);
        }
        double scaled = x < Double.MIN_NORMAL ? x * 0x1p54 : x;
        int exponent = Math.getExponent(scaled);
        double mantissa = Math.scalb(scaled, -exponent);
        if (mantissa > 2 * SQRT_HALF) {
            mantissa /= 2;
            exponent++;
        }
        return exponent - (x < Double.MIN_NORMAL ? 54 : 0) + Math.log(mantissa) / LN2;
    }

    static double asinh(double x) {
        double a = Math.abs(x);
        return Math.copySign(a > 0x1p500 ? Math.log(a) + LN2 : Math.log1p(a + a * a / (1 + Math.sqrt(1 + a * a))), x);
    }

    static double acosh(double x) {
        if (x < 1) {
            return Double.NaN; // far below, the terms of the formula cancel to 0
        }
        double t = x - 1;
        return x > 0x1p500 ? Math.log(x) + LN2 : Math.log1p(t + Math.sqrt(t * (t + 2)));
    }
}
