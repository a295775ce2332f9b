package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.CompareFn;

/**
 * Comparisons of floats, to bytes. One loop a function: a loop that tests which function it is has to be compiled anew
 * for each that comes.
 */
final class PlainCompare {
    private PlainCompare() {}

    static void run(CompareFn fn, float[] a, float[] b, byte[] y, int n) {
        switch (fn) {
            case EQ -> equal(a, b, y, n);
            case NE -> notEqual(a, b, y, n);
            case LT -> less(a, b, y, n);
            case LE -> lessOrEqual(a, b, y, n);
            case GT -> less(b, a, y, n);
            case GE -> lessOrEqual(b, a, y, n);
        }
    }

    private static void equal(float[] a, float[] b, byte[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (byte) (a[j] == b[j] ? 1 : 0);
        }
    }

    private static void notEqual(float[] a, float[] b, byte[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (byte) (a[j] != b[j] ? 1 : 0);
        }
    }

    private static void less(float[] a, float[] b, byte[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (byte) (a[j] < b[j] ? 1 : 0);
        }
    }

    private static void lessOrEqual(float[] a, float[] b, byte[] y, int n) {
        for (int j = 0; j < n; j++) {
            y[j] = (byte) (a[j] <= b[j] ? 1 : 0);
        }
    }
}
