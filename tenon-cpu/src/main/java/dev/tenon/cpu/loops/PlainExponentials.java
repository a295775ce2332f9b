package dev.tenon.cpu.loops;

import dev.tenon.cpu.machine.Exponential;

/**
 * The functions that rest on the exponential, by the formulas of {@link VectorExponentials}, as loops over arrays.
 * Where vectors choose between two results, these add two of which one is 0 (or -0, which changes no number): C2 gives
 * up vectors for a choice. Powers of two have a loop of their own, because C2 has no vectors for bits that become
 * a float.
 */
@SuppressWarnings("FloatingPointLiteralPrecision") // coefficients as published
final class PlainExponentials {
    private static final float ROUNDER = Exponential.ROUNDER;
    private static final float LOG2_E = Exponential.LOG2_E;
    private static final int ONE_BITS = 127 << 23;
    private static final float HUGE = 0x1p127f;

    private PlainExponentials() {}

    /**
     * e^(v + rest) as (1 + p) 2^k.
     *
     * @param power takes k in the low bits of its elements
     */
    private static void split(float[] v, float[] rest, float[] power, float[] p, int n) {
        for (int j = 0; j < n; j++) {
            float t = Math.fma(v[j], LOG2_E, ROUNDER);
            float k = t - ROUNDER;
            float r = Math.fma(k, Exponential.LN2_HIGH, v[j]);
            r += Math.fma(k, Exponential.LN2_LOW, rest[j]);
            float q = Math.fma(r, Exponential.E5, Exponential.E4);
            q = Math.fma(q, r, Exponential.E3);
            q = Math.fma(q, r, Exponential.E2);
            q = Math.fma(q, r, Exponential.E1);
            p[j] = Math.fma(q * r, r, r);
            power[j] = t;
        }
    }

    /** The powers of two that {@link #split} left in the low bits, times 2^scale. */
    private static void powers(float[] power, int scale, int n) {
        int bias = ONE_BITS + (scale << 23);
        for (int j = 0; j < n; j++) {
            power[j] = Float.intBitsToFloat((Float.floatToRawIntBits(power[j]) << 23) + bias);
        }
    }

    /** 1 for a positive number, 0 for another. */
    private static float step(float x) {
        return Math.min(Math.max(x * HUGE * HUGE, 0), 1);
    }

    static void exp(PlainBuffers of, int n) {
        float[] x = of.x;
        float[] v = of.v;
        float[] rest = of.rest;
        for (int j = 0; j < n; j++) {
            v[j] = Math.min(Math.max(x[j], -104), 89);
            rest[j] = 0;
        }
        powers(of, n);
    }

    /** y = e^v, v from -104 to 89. */
    private static void powers(PlainBuffers of, int n) {
        split(of.v, of.rest, of.power, of.p, n);
        for (int j = 0; j < n; j++) {
            // as two factors, the first 2^(k/2): results may be subnormal, and 2^128 is no number
            int bits = Float.floatToRawIntBits(of.power[j]);
            int half = (bits >> 1 << 23) + ONE_BITS;
            float other = Float.intBitsToFloat((bits << 23) - half + 2 * ONE_BITS);
            of.y[j] = (of.p[j] + 1) * Float.intBitsToFloat(half) * other;
        }
    }

    /** y = e^(x - shift); returns the sum. */
    static double expSum(PlainBuffers of, float shift, int n) {
        float[] x = of.x;
        float[] v = of.v;
        float[] rest = of.rest;
        for (int j = 0; j < n; j++) {
            v[j] = Math.min(Math.max(x[j] - shift, -104), 89);
            rest[j] = 0;
        }
        powers(of, n);
        return PlainRows.sum(of.y, n);
    }

    static void sigmoid(PlainBuffers of, int n) {
        gateArguments(of.x, of.v, of.rest, 1, n);
        split(of.v, of.rest, of.power, of.p, n);
        powers(of.power, 64, n);
        float[] x = of.x;
        float[] y = of.y;
        float[] p = of.p;
        float[] power = of.power;
        for (int j = 0; j < n; j++) {
            float e = Math.fma(p[j], power[j], power[j]) * 0x1p-64f;
            float near = step(x[j]);
            y[j] = (near + (1 - near) * e) / (e + 1);
        }
    }

    /** x / (1 + e^(-alpha x)) for a positive alpha. */
    static void silu(PlainBuffers of, float alpha, int n) {
        gateArguments(of.x, of.v, of.rest, alpha, n);
        split(of.v, of.rest, of.power, of.p, n);
        powers(of.power, 64, n);
        float limit = -131 / alpha;
        float[] x = of.x;
        float[] y = of.y;
        float[] p = of.p;
        float[] power = of.power;
        for (int j = 0; j < n; j++) {
            float e = Math.fma(p[j], power[j], power[j]) * 0x1p-64f;
            float far = Math.max(Math.min(x[j], 0), limit);
            far = Math.fma(p[j], far, far) * power[j] * 0x1p-64f;
            y[j] = (Math.max(x[j], -0f) + far) / (e + 1);
        }
    }

    private static void gateArguments(float[] x, float[] v, float[] rest, float alpha, int n) {
        float limit = 131 / alpha;
        for (int j = 0; j < n; j++) {
            float u = Math.min(Math.abs(x[j]), limit);
            float product = u * -alpha;
            v[j] = product;
            rest[j] = Math.fma(u, -alpha, -product);
        }
    }

    static void tanh(PlainBuffers of, float alpha, float beta, int n) {
        float[] x = of.x;
        float[] v = of.v;
        float[] rest = of.rest;
        for (int j = 0; j < n; j++) {
            v[j] = Math.min(Math.abs(x[j] * beta), 10) * -2;
            rest[j] = 0;
        }
        split(v, rest, of.power, of.p, n);
        powers(of.power, 0, n);
        float[] y = of.y;
        float[] p = of.p;
        float[] power = of.power;
        for (int j = 0; j < n; j++) {
            float m = Math.fma(p[j], power[j], power[j] - 1);
            float sign = Math.min(Math.max(x[j] * beta * HUGE * HUGE, -1), 1);
            y[j] = Math.abs(m) / (m + 2) * sign * alpha;
        }
    }

    static void geluTanh(PlainBuffers of, int n) {
        float[] x = of.x;
        float[] v = of.v;
        float[] rest = of.rest;
        float cube = -0.0713548139f;
        float linear = -1.595703125f; // short: the next difference is exact
        for (int j = 0; j < n; j++) {
            float a = Math.min(Math.abs(x[j]), 12);
            float s = a * a;
            float factor = Math.fma(s, cube, linear);
            float left = Math.fma(s, -2.39883247e-09f, -6.59966026e-05f);
            left = Math.fma(Math.fma(a, a, -s), cube, left) + Math.fma(s, cube, linear - factor);
            float product = a * factor;
            v[j] = product;
            rest[j] = Math.fma(a, left, Math.fma(a, factor, -product));
        }
        split(v, rest, of.power, of.p, n);
        powers(of.power, 100, n);
        float[] y = of.y;
        float[] p = of.p;
        float[] power = of.power;
        for (int j = 0; j < n; j++) {
            float e = Math.fma(p[j], power[j], power[j]) * 0x1p-100f;
            float far = Math.max(Math.min(x[j], 0), -12);
            far = Math.fma(p[j], far, far) * power[j] * 0x1p-100f;
            y[j] = (Math.max(x[j], -0f) + far) / (e + 1);
        }
    }

    static void gelu(PlainBuffers of, int n) {
        float[] x = of.x;
        float[] v = of.v;
        float[] rest = of.rest;
        for (int j = 0; j < n; j++) {
            float a = Math.min(Math.abs(x[j]), 15);
            float s = a * a;
            v[j] = s * -0.5f;
            rest[j] = Math.fma(a, a, -s) * -0.5f;
        }
        split(v, rest, of.power, of.p, n);
        powers(of.power, 64, n);
        float[] y = of.y;
        float[] p = of.p;
        float[] power = of.power;
        for (int j = 0; j < n; j++) {
            float a = Math.min(Math.abs(x[j]), 15);
            float s = a * a;
            float top =
                    Math.fma(s, Math.fma(a, 0.00415328005f, 0.0408814996f), Math.fma(a, 0.183970973f, 0.439286917f));
            top = Math.fma(top, s, a * 0.5f);
            float bottom = Math.fma(s, 0.0104106199f, Math.fma(a, 0.102480799f, 0.471413672f));
            bottom = Math.fma(bottom, s, Math.fma(a, 1.20555723f, 1.67645872f));
            float q = top / Math.fma(bottom, a, 1);
            y[j] = Math.max(x[j], -0f) + Math.fma(p[j], q, q) * power[j] * -0x1p-64f;
        }
    }
}
