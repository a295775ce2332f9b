package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;

/** Products of f32 matrices by {@link VectorTile}s, a panel of B at a time. */
final class VectorProduct {
    private static final int NR = Gemm.NR;

    private VectorProduct() {}

    /** See {@link Loops#product}. */
    static void run(
            int m,
            int n,
            int k,
            MemorySegment a,
            long aOffset,
            long lda,
            MemorySegment b,
            long bOffset,
            long bStride,
            MemorySegment c,
            long cOffset,
            long ldc,
            int start,
            MemorySegment bias,
            long biasOffset,
            MemorySegment edge,
            long edgeOffset) {
        for (int column = 0; column < n; column += NR) {
            panel(
                    m,
                    Math.min(NR, n - column),
                    k,
                    a,
                    aOffset,
                    lda,
                    b,
                    bOffset + (column / NR) * bStride,
                    c,
                    cOffset + 4L * column,
                    ldc,
                    start,
                    bias,
                    biasOffset + 4L * column,
                    edge,
                    edgeOffset);
        }
    }

    /** All rows of one panel, of which {@code columns} are written. */
    private static void panel(
            int m,
            int columns,
            int k,
            MemorySegment a,
            long aOffset,
            long lda,
            MemorySegment b,
            long bOffset,
            MemorySegment c,
            long cOffset,
            long ldc,
            int start,
            MemorySegment bias,
            long biasOffset,
            MemorySegment edge,
            long edgeOffset) {
        int most = VectorTile.ROWS;
        boolean direct = columns == NR && start == Loops.ZERO;
        for (int row = 0; row < m; row += most) {
            int rows = Math.min(most, m - row);
            long aRow = aOffset + 4L * row * lda;
            long cRow = cOffset + 4L * row * ldc;
            if (direct) {
                VectorTile.run(rows, k, a, aRow, lda, b, bOffset, c, cRow, ldc);
                continue;
            }
            VectorTile.run(rows, k, a, aRow, lda, b, bOffset, edge, edgeOffset, NR);
            if (columns < NR) {
                copyEdge(rows, columns, edge, edgeOffset, c, cRow, ldc, start, bias, biasOffset);
            } else if (start == Loops.BIAS && Segments.isNative(bias)) {
                VectorTile.add(rows, edge, edgeOffset, bias, biasOffset, 0, c, cRow, ldc);
            } else if (start == Loops.BIAS) {
                copyEdge(rows, columns, edge, edgeOffset, c, cRow, ldc, start, bias, biasOffset);
            } else {
                VectorTile.add(rows, edge, edgeOffset, c, cRow, ldc, c, cRow, ldc);
            }
        }
    }

    private static void copyEdge(
            int rows,
            int columns,
            MemorySegment edge,
            long edgeOffset,
            MemorySegment c,
            long cOffset,
            long ldc,
            int start,
            MemorySegment bias,
            long biasOffset) {
        for (int row = 0; row < rows; row++) {
            for (int j = 0; j < columns; j++) {
                float value = edge.get(Loops.F32, edgeOffset + 4L * (row * NR + j));
                long at = cOffset + 4 * (row * ldc + j);
                if (start == Loops.ACCUMULATE) {
                    value += c.get(Loops.F32, at);
                } else if (start == Loops.BIAS) {
                    value += bias.get(Loops.F32, biasOffset + 4L * j);
                }
                c.set(Loops.F32, at, value);
            }
        }
    }
}
