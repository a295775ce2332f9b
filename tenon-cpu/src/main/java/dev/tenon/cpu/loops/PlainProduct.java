package dev.tenon.cpu.loops;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Products of f32 matrices in plain Java, in the one shape that C2 vectorises at once: a row of the result gains four
 * rows of B in one loop whose only index is its counter, and each row is an array of its own. The same arithmetic with
 * offsets into one array, or with two rows of the result in a loop, stays scalar and is five times slower.
 *
 * <p>Operands are copied to arrays of the thread's own, a block at a time: a block of B and a row of the result stay in
 * the first-level cache.
 */
final class PlainProduct {
    /** Columns at a time: long rows, because what C2 puts before and after a vector loop is scalar. */
    private static final int COLUMNS = 512;

    /** Rows of A at a time: what it costs to lay out a block of B is shared by them. */
    private static final int ROWS = 128;

    /** Rows of B at a time, of 32 KiB with all columns. */
    private static final int DEPTH = 16;

    /** Columns of A that are copied at a time. */
    private static final int A_COLUMNS = 256;

    private static final int NR = Gemm.NR;
    private static final ValueLayout.OfFloat F32 = Loops.F32;
    private static final ThreadLocal<Buffers> BUFFERS = ThreadLocal.withInitial(Buffers::new);

    /** The arrays of one thread, as large as its largest product needs. */
    private static final class Buffers {
        float[][] a = new float[0][];
        float[][] c = new float[0][];
        int width;
        float[][] b = new float[DEPTH][0];
        final float[] panel = new float[DEPTH * NR];

        void ensure(int rows, int columns) {
            if (columns > width) {
                width = Math.max(64, Integer.highestOneBit(2 * columns - 1));
                b = new float[DEPTH][width];
                c = new float[0][];
            }
            if (rows > c.length) {
                c = new float[Math.max(8, Integer.highestOneBit(2 * rows - 1))][width];
            }
            if (rows > a.length) {
                a = new float[c.length][A_COLUMNS];
            }
        }
    }

    private PlainProduct() {}

    /** See {@link Loops#product}. */
    static void run(Gemm.Size size, Matrix a, Matrix b, Matrix c, Start start) {
        int m = size.m();
        int n = size.n();
        Buffers buffers = BUFFERS.get();
        int pieces = Math.ceilDiv(n, COLUMNS);
        int width = pieces == 0 ? 0 : Math.ceilDiv(Math.ceilDiv(n, pieces), NR) * NR;
        buffers.ensure(Math.min(m, ROWS), width);
        for (int column = 0; column < n; column += width) {
            int columns = Math.min(width, n - column);
            Matrix panels = b.plus((column / NR) * b.stride());
            for (int row = 0; row < m; row += ROWS) {
                int rows = Math.min(ROWS, m - row);
                Matrix result = c.plus(row * c.stride() + 4L * column);
                begin(buffers.c, rows, columns, result, start.from(column));
                add(buffers, new Gemm.Size(rows, columns, size.k()), a.plus(row * a.stride()), panels);
                for (int r = 0; r < rows; r++) {
                    MemorySegment.copy(
                            buffers.c[r], 0, c.memory(), F32, result.offset() + r * result.stride(), columns);
                }
            }
        }
    }

    /** What the rows of a block begin at. */
    private static void begin(float[][] rowsOfC, int rows, int columns, Matrix c, Start start) {
        Matrix bias = start.bias();
        for (int r = 0; r < rows; r++) {
            switch (start.kind()) {
                case RESULT -> MemorySegment.copy(c.memory(), F32, c.offset() + r * c.stride(), rowsOfC[r], 0, columns);
                case BIAS -> MemorySegment.copy(bias.memory(), F32, bias.offset(), rowsOfC[r], 0, columns);
                case ZERO -> Arrays.fill(rowsOfC[r], 0, columns, 0);
            }
        }
    }

    private static void add(Buffers buffers, Gemm.Size size, Matrix a, Matrix b) {
        int rows = size.m();
        int columns = size.n();
        int k = size.k();
        for (int from = 0; from < k; from += A_COLUMNS) {
            int count = Math.min(A_COLUMNS, k - from);
            for (int r = 0; r < rows; r++) {
                float[] row = buffers.a[r];
                MemorySegment.copy(a.memory(), F32, a.offset() + r * a.stride() + 4L * from, row, 0, count);
                Arrays.fill(row, count, Math.min(A_COLUMNS, Math.ceilDiv(count, 4) * 4), 0);
            }
            for (int i = 0; i < count; i += DEPTH) {
                int depth = Math.min(DEPTH, count - i);
                spread(buffers, columns, depth, b.plus(4L * (from + i) * NR));
                for (int r = 0; r < rows; r++) {
                    row(buffers.c[r], buffers.a[r], i, depth, buffers.b, columns);
                }
            }
        }
    }

    /** Rows of B out of its panels; rows of zeros fill up the last four. */
    private static void spread(Buffers buffers, int columns, int depth, Matrix b) {
        float[][] rows = buffers.b;
        float[] panel = buffers.panel;
        for (int column = 0; column < columns; column += NR) {
            MemorySegment.copy(b.memory(), F32, b.offset() + (column / NR) * b.stride(), panel, 0, depth * NR);
            for (int i = 0; i < depth; i++) {
                System.arraycopy(panel, i * NR, rows[i], column, NR);
            }
        }
        for (int i = depth; i % 4 != 0; i++) {
            Arrays.fill(rows[i], 0, columns, 0);
        }
    }

    private static void row(float[] c, float[] a, int from, int depth, float[][] b, int columns) {
        for (int i = 0; i < depth; i += 4) {
            addFour(c, a, from + i, b, i, columns);
        }
    }

    /** c += the sum over i below 4 of a[at + i] times row first + i of b. */
    private static void addFour(float[] c, float[] a, int at, float[][] b, int first, int n) {
        float a0 = a[at];
        float a1 = a[at + 1];
        float a2 = a[at + 2];
        float a3 = a[at + 3];
        float[] b0 = b[first];
        float[] b1 = b[first + 1];
        float[] b2 = b[first + 2];
        float[] b3 = b[first + 3];
        for (int j = 0; j < n; j++) {
            c[j] = Math.fma(a3, b3[j], Math.fma(a2, b2[j], Math.fma(a1, b1[j], Math.fma(a0, b0[j], c[j]))));
        }
    }
}
