package dev.tenon.cpu.function;

import dev.tenon.core.ir.fn.BinaryFn;

/**
 * Functions of two floats, in double and rounded once. Arguments that are rare (infinities, zeros, powers of negative
 * numbers) go by the function's definition.
 */
public final class PlainPairs {
    /** Quotients of two floats below it, cut to whole numbers, are those of the exact quotient. */
    private static final double EXACT_QUOTIENT = 0x1p28;

    /** Powers of two past it are infinite, or zero, as floats. */
    private static final double MOST_POWER = 1000;

    private static final double TAN_EIGHTH = 0.41421356237309503;

    private PlainPairs() {}

    public static void floorDivide(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (float) Math.floor((double) a[j] / b[j]);
        }
    }

    /** The remainder that has the dividend's sign. */
    private static double remainder(double a, double b) {
        double quotient = a / b;
        if (Math.abs(quotient) < EXACT_QUOTIENT && Math.abs(b) <= Float.MAX_VALUE) {
            double whole = Math.copySign(Math.floor(Math.abs(quotient)), quotient);
            return Math.copySign(Math.fma(-whole, b, a), a);
        }
        return a % b;
    }

    public static void fmod(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (float) remainder(a[j], b[j]);
        }
    }

    /** The remainder that has the divisor's sign. */
    public static void mod(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            double rest = remainder(a[j], b[j]);
            double other = rest == 0 ? Math.copySign(0.0, b[j]) : rest + b[j];
            y[j] = (float) (rest != 0 && rest < 0 == b[j] < 0 ? rest : other);
        }
    }

    public static void pow(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            double base = a[j];
            double power = base > 0 && base < Float.POSITIVE_INFINITY ? b[j] * PlainLogarithms.log2(base) : Double.NaN;
            y[j] = Math.abs(power) < MOST_POWER
                    ? (float) PlainPowers.ofTwo(power)
                    : (float) BinaryFn.POW.apply(base, b[j]);
        }
    }

    /** The angle of the point (b, a). */
    public static void atan2(float[] a, float[] b, float[] y, int n) {
        for (int j = 0; j < n; j++) {
            double up = Math.abs((double) a[j]);
            double right = Math.abs((double) b[j]);
            double larger = Math.max(up, right);
            if (!(larger > 0 && larger < Float.POSITIVE_INFINITY)) {
                y[j] = (float) Math.atan2(a[j], b[j]);
                continue;
            }
            double angle = arcTangent(Math.min(up, right) / larger);
            angle = up > right ? Math.PI / 2 - angle : angle;
            angle = b[j] < 0 ? Math.PI - angle : angle;
            y[j] = Math.copySign((float) angle, a[j]);
        }
    }

    /** Of a number from 0 to 1. */
    private static double arcTangent(double x) {
        boolean near = x > TAN_EIGHTH;
        double t = near ? (x - 1) / (x + 1) : x;
        double s = t * t;
        double sum = 1.0 / 25;
        sum = Math.fma(sum, -s, 1.0 / 23);
        sum = Math.fma(sum, -s, 1.0 / 21);
        sum = Math.fma(sum, -s, 1.0 / 19);
        sum = Math.fma(sum, -s, 1.0 / 17);
        sum = Math.fma(sum, -s, 1.0 / 15);
        sum = Math.fma(sum, -s, 1.0 / 13);
        sum = Math.fma(sum, -s, 1.0 / 11);
        sum = Math.fma(sum, -s, 1.0 / 9);
        sum = Math.fma(sum, -s, 1.0 / 7);
        sum = Math.fma(sum, -s, 1.0 / 5);
        sum = Math.fma(sum, -s, 1.0 / 3);
        return (near ? Math.PI / 4 : 0) + t * Math.fma(sum, -s, 1);
    }
}
