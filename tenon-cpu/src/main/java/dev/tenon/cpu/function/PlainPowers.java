package dev.tenon.cpu.function;

/** Powers in double, within 1e-11 of the exact result: for what is rounded to f32 afterwards. */
public final class PlainPowers {
    private static final double LN2 = 0.6931471805599453;
    private static final double LOG2_E = 1.4426950408889634;
    private static final int BIAS = 1023;
    private static final int FRACTION = 52;
    /** Past it e^x is near the ends of the doubles. */
    private static final double MODERATE = 690;

    private PlainPowers() {}

    /** 2^x of an x between -1000 and 1000: a series for what rounding to a whole number leaves. */
    static double ofTwo(double x) {
        double whole = Math.rint(x);
        double r = (x - whole) * LN2;
        double sum = 1.0 / 3_628_800;
        sum = Math.fma(sum, r, 1.0 / 362_880);
        sum = Math.fma(sum, r, 1.0 / 40_320);
        sum = Math.fma(sum, r, 1.0 / 5040);
        sum = Math.fma(sum, r, 1.0 / 720);
        sum = Math.fma(sum, r, 1.0 / 120);
        sum = Math.fma(sum, r, 1.0 / 24);
        sum = Math.fma(sum, r, 1.0 / 6);
        sum = Math.fma(sum, r, 0.5);
        sum = Math.fma(sum, r, 1);
        sum = Math.fma(sum, r, 1);
        return sum * Double.longBitsToDouble((long) whole + BIAS << FRACTION);
    }

    /** e^x. */
    public static double exp(double x) {
        return Math.abs(x) < MODERATE ? ofTwo(x * LOG2_E) : Math.exp(x);
    }
}
