package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The matrix micro-kernel without vectors. It copies its operands to arrays a block at a time: in a JVM that has just started, where nothing is compiled better than by C1, an array access is one instruction and a segment access some
 * dozens (3.5 against 0.3 GFLOP/s; 6.8 against 5.3 once C2 has compiled them).
 */
final class ScalarTile {
    static final int ROWS = 8;
    private static final int DEPTH = 256;
    private static final int PANEL = Gemm.NR;
    private static final int A_AT = 0;
    private static final int B_AT = ROWS * DEPTH;
    private static final int C_AT = B_AT + DEPTH * PANEL;
    private static final ThreadLocal<float[]> BUFFERS = ThreadLocal.withInitial(() -> new float[C_AT + ROWS * PANEL]);

    private ScalarTile() {}

    /** See {@link Loops#tile}. */
    static void run(
            int rows,
            int k,
            MemorySegment a,
            long aOffset,
            long lda,
            MemorySegment b,
            long bOffset,
            MemorySegment c,
            long cOffset,
            long ldc) {
        float[] x = BUFFERS.get();
        Arrays.fill(x, C_AT, C_AT + rows * PANEL, 0);
        for (int from = 0; from < k; from += DEPTH) {
            int depth = Math.min(DEPTH, k - from);
            copyIn(b, bOffset + 4L * from * PANEL, x, B_AT, depth * PANEL);
            for (int row = 0; row < rows; row++) {
                copyIn(a, aOffset + 4 * (row * lda + from), x, A_AT + row * DEPTH, depth);
            }
            for (int row = 0; row < rows; row += 2) {
                // an odd last row is computed twice, rather than by a loop of its own
                int second = Math.min(row + 1, rows - 1);
                for (int column = 0; column < PANEL; column += 4) {
                    twoByFour(x, row, second, column, depth);
                }
            }
        }
        for (int row = 0; row < rows; row++) {
            MemorySegment.copy(
                    x, C_AT + row * PANEL, c, ValueLayout.JAVA_FLOAT_UNALIGNED, cOffset + 4L * row * ldc, PANEL);
        }
    }

    private static void copyIn(MemorySegment from, long offset, float[] to, int index, int count) {
        MemorySegment.copy(from, ValueLayout.JAVA_FLOAT_UNALIGNED, offset, to, index, count);
    }

    private static void twoByFour(float[] x, int row, int second, int column, int depth) {
        int c0 = C_AT + row * PANEL + column;
        int c1 = C_AT + second * PANEL + column;
        float p0 = x[c0];
        float p1 = x[c0 + 1];
        float p2 = x[c0 + 2];
        float p3 = x[c0 + 3];
        float q0 = x[c1];
        float q1 = x[c1 + 1];
        float q2 = x[c1 + 2];
        float q3 = x[c1 + 3];
        int a0 = A_AT + row * DEPTH;
        int a1 = A_AT + second * DEPTH;
        int b = B_AT + column;
        for (int i = 0; i < depth; i++) {
            float u = x[a0 + i];
            float v = x[a1 + i];
            float b0 = x[b];
            float b1 = x[b + 1];
            float b2 = x[b + 2];
            float b3 = x[b + 3];
            p0 += u * b0;
            p1 += u * b1;
            p2 += u * b2;
            p3 += u * b3;
            q0 += v * b0;
            q1 += v * b1;
            q2 += v * b2;
            q3 += v * b3;
            b += PANEL;
        }
        x[c1] = q0;
        x[c1 + 1] = q1;
        x[c1 + 2] = q2;
        x[c1 + 3] = q3;
        x[c0] = p0;
        x[c0 + 1] = p1;
        x[c0 + 2] = p2;
        x[c0 + 3] = p3;
    }
}
