package dev.tenon.cpu.machine;

/**
 * The numbers of the exponential, for every form of it: 2^k (1 + p) with r in ±ln(2)/2 and a polynomial of degree 6 for
 * p = e^r - 1 (our fit, within 4e-9).
 */
@SuppressWarnings("FloatingPointLiteralPrecision") // coefficients as published
public final class Exponential {
    public static final float LOG2_E = 1.44269504f;
    /** Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits. */
    public static final float ROUNDER = 12582912f;

    public static final float LN2_HIGH = -0.693359375f;
    public static final float LN2_LOW = 2.12194440e-4f;
    public static final float E5 = 1.38145394e-3f;
    public static final float E4 = 8.36874545e-3f;
    public static final float E3 = 4.1668389e-2f;
    public static final float E2 = 1.66665211e-1f;
    public static final float E1 = 4.9999994e-1f;

    private Exponential() {}
}
