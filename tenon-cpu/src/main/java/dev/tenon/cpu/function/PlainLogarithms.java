package dev.tenon.cpu.function;

/**
 * Logarithms of floats and what is made of them. Within 1e-11 of the exact result before the one rounding to f32; a
 * power of two has an exact logarithm.
 */
public final class PlainLogarithms {
    private static final double LN2 = 0.6931471805599453;
    private static final double LOG2_E = 1.4426950408889634;
    private static final long ROOT_HALF_BITS = 0x3FE6A09E667F3BCDL;
    private static final int FRACTION = 52;
    /** Past every float. */
    private static final double LARGE = 0x1p200;

    private PlainLogarithms() {}

    /** The logarithm to base 2 of a positive normal double. */
    static double log2(double x) {
        long bits = Double.doubleToRawLongBits(x);
        long exponent = bits - ROOT_HALF_BITS >> FRACTION;
        return exponent + ofFraction(Double.longBitsToDouble(bits - (exponent << FRACTION))) * LOG2_E;
    }

    private static double natural(double x) {
        long bits = Double.doubleToRawLongBits(x);
        long exponent = bits - ROOT_HALF_BITS >> FRACTION;
        return exponent * LN2 + ofFraction(Double.longBitsToDouble(bits - (exponent << FRACTION)));
    }

    /** Of m between the roots of 1/2 and of 2: the series of artanh, whose argument is less than 0.1716. */
    private static double ofFraction(double m) {
        double f = (m - 1) / (m + 1);
        double s = f * f;
        double sum = 1.0 / 15;
        sum = Math.fma(sum, s, 1.0 / 13);
        sum = Math.fma(sum, s, 1.0 / 11);
        sum = Math.fma(sum, s, 1.0 / 9);
        sum = Math.fma(sum, s, 1.0 / 7);
        sum = Math.fma(sum, s, 1.0 / 5);
        sum = Math.fma(sum, s, 1.0 / 3);
        return 2 * f * Math.fma(sum, s, 1);
    }

    /** log(1 + t) for t from 0 on: what 1 + t rounds off is given back to first order. */
    private static double naturalOfOnePlus(double t) {
        double bounded = Math.min(t, LARGE);
        double u = 1 + bounded;
        return natural(u) + (bounded - (u - 1)) / u + (t - bounded); // infinity, NaN
    }

    public static void log2(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            double v = x[j];
            double inside = log2(Math.min(Math.max(v, Float.MIN_VALUE), Float.MAX_VALUE));
            double outside = v == 0 ? Double.NEGATIVE_INFINITY : v == Float.POSITIVE_INFINITY ? v : Double.NaN;
            y[j] = (float) (v > 0 && v < Float.POSITIVE_INFINITY ? inside : outside);
        }
    }

    public static void asinh(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            double v = Math.abs((double) x[j]);
            double a = Math.min(v, LARGE);
            double square = a * a;
            double result = naturalOfOnePlus(a + square / (1 + Math.sqrt(square + 1))) + (v - a);
            y[j] = Math.copySign((float) result, x[j]);
        }
    }

    public static void acosh(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            double v = x[j];
            double above = Math.min(v, LARGE) - 1;
            double t = Math.max(above, 0);
            double result = naturalOfOnePlus(t + Math.sqrt(t * (t + 2))) + (v - 1 - above);
            y[j] = (float) (above < 0 ? Double.NaN : result);
        }
    }

    public static void atanh(float[] x, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            double v = Math.abs((double) x[j]);
            double result = 0.5 * naturalOfOnePlus(2 * v / (1 - Math.min(v, 1)));
            y[j] = Math.copySign((float) (v > 1 ? Double.NaN : result), x[j]);
        }
    }
}
