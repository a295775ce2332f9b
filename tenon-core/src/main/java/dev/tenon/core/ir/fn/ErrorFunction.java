package dev.tenon.core.ir.fn;

/**
 * erf and its complement, to less than one unit in the last place: the rational approximations of fdlibm's
 * {@code s_erf.c}.
 *
 * <p>Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc.
 * business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice
 * is preserved.
 */
public final class ErrorFunction {
    private static final double ERX = 0.8450629115104675;
    private static final double EFX = 0.1283791670955126;
    private static final double[] PP = {
        0.12837916709551256, -0.3250421072470015, -0.02848174957559851, -0.005770270296489442, -2.3763016656650163e-05
    };
    private static final double[] QQ = {
        1, 0.39791722395915535, 0.0650222499887673, 0.005081306281875766, 0.00013249473800432164, -3.960228278775368e-06
    };
    private static final double[] PA = {
        -0.0023621185607526594,
        0.41485611868374833,
        -0.3722078760357013,
        0.31834661990116175,
        -0.11089469428239668,
        0.035478304325618236,
        -0.002166375594868791
    };
    private static final double[] QA = {
        1,
        0.10642088040084423,
        0.540397917702171,
        0.07182865441419627,
        0.12617121980876164,
        0.01363708391202905,
        0.011984499846799107
    };
    private static final double[] RA = {
        -0.009864944034847148,
        -0.6938585727071818,
        -10.558626225323291,
        -62.375332450326006,
        -162.39666946257347,
        -184.60509290671104,
        -81.2874355063066,
        -9.814329344169145
    };
    private static final double[] SA = {
        1,
        19.651271667439257,
        137.65775414351904,
        434.56587747522923,
        645.3872717332679,
        429.00814002756783,
        108.63500554177944,
        6.570249770319282,
        -0.0604244152148581
    };
    private static final double[] RB = {
        -0.0098649429247001,
        -0.799283237680523,
        -17.757954917754752,
        -160.63638485582192,
        -637.5664433683896,
        -1025.0951316110772,
        -483.5191916086514
    };
    private static final double[] SB = {
        1,
        30.33806074348246,
        325.7925129965739,
        1536.729586084437,
        3199.8582195085955,
        2553.0504064331644,
        474.52854120695537,
        -22.44095244658582
    };

    private ErrorFunction() {}

    public static double erf(double x) {
        double a = Math.abs(x);
        if (!(a >= 0.84375)) {
            if (a < 0x1p-28) {
                return x + EFX * x;
            }
            double z = x * x;
            return x + x * (polynomial(PP, z) / polynomial(QQ, z));
        }
        double magnitude = a < 1.25 ? ERX + middle(a) : a >= 6 ? 1 : 1 - tail(a);
        return Math.copySign(magnitude, x);
    }

    /** 1 - erf(x), exact in relative terms where that is tiny. */
    public static double erfc(double x) {
        double a = Math.abs(x);
        if (!(a >= 0.84375)) {
            double z = x * x;
            double y = x * (polynomial(PP, z) / polynomial(QQ, z));
            return x < 0.25 ? 1 - (x + y) : 0.5 - (x - 0.5 + y);
        }
        if (a < 1.25) {
            return x >= 0 ? 1 - ERX - middle(a) : 1 + (ERX + middle(a));
        }
        if (x < -6) {
            return 2;
        }
        double tail = a >= 28 ? 0 : tail(a);
        return x > 0 ? tail : 2 - tail;
    }

    private static double middle(double a) {
        double s = a - 1;
        return polynomial(PA, s) / polynomial(QA, s);
    }

    /** erfc(a) for a from 1.25 to 28. */
    private static double tail(double a) {
        double s = 1 / (a * a);
        double ratio = a < 1 / 0.35 ? polynomial(RA, s) / polynomial(SA, s) : polynomial(RB, s) / polynomial(SB, s);
        // a*a loses half its bits in exp; splitting off the high word of a keeps them
        double z = Double.longBitsToDouble(Double.doubleToRawLongBits(a) & 0xFFFFFFFF00000000L);
        return Math.exp(-z * z - 0.5625) * Math.exp((z - a) * (z + a) + ratio) / a;
    }

    private static double polynomial(double[] coefficients, double x) {
        double sum = 0;
        for (int i = coefficients.length - 1; i >= 0; i--) {
            sum = sum * x + coefficients[i];
        }
        return sum;
    }
}
