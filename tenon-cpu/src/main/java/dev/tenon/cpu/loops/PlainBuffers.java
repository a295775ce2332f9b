package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;

/**
 * The arrays of one thread that plain loops work on: C2 turns a loop over arrays into vectors at once, a loop over
 * memory never.
 */
final class PlainBuffers {
    /** Elements at a time: five arrays of them fit the first-level cache. */
    static final int BLOCK = 1024;

    private static final ThreadLocal<PlainBuffers> BUFFERS = ThreadLocal.withInitial(PlainBuffers::new);

    final float[] x = new float[BLOCK];
    final float[] y = new float[BLOCK];

    /** Of the exponential: its argument, what rounding left of the argument, the power of two and the polynomial. */
    final float[] v = new float[BLOCK];

    final float[] rest = new float[BLOCK];
    final float[] power = new float[BLOCK];
    final float[] p = new float[BLOCK];

    /** Floats as their bits, for loops that choose: C2 vectorises no choice between floats. */
    final int[] bits = new int[BLOCK];

    final int[] others = new int[BLOCK];
    final byte[] flags = new byte[BLOCK];
    final double[] sums = new double[BLOCK];

    private PlainBuffers() {}

    static PlainBuffers get() {
        return BUFFERS.get();
    }

    static void load(MemorySegment from, long offset, float[] to, int n) {
        MemorySegment.copy(from, Loops.F32, offset, to, 0, n);
    }

    static void loadBits(MemorySegment from, long offset, int[] to, int n) {
        MemorySegment.copy(from, Convert.I32, offset, to, 0, n);
    }

    static void store(float[] from, MemorySegment to, long offset, int n) {
        MemorySegment.copy(from, 0, to, Loops.F32, offset, n);
    }
}
