package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;

/** Packs the columns of a matrix, each of which lies in one piece, as rows of a panel. */
final class PlainPanels {
    private static final int NR = Gemm.NR;

    /** Rows at a time: of the panel as much as half of a first-level cache. */
    private static final int ROWS = 128;

    private static final ThreadLocal<PlainPanels> BUFFERS = ThreadLocal.withInitial(PlainPanels::new);

    private final float[] column = new float[ROWS];
    private final float[] panel = new float[ROWS * NR];

    private PlainPanels() {}

    /** Column j begins {@code j * stride} elements from the offset on; columns past the last are left as they are. */
    static void transpose(
            MemorySegment b, long bOffset, long stride, int k, int columns, MemorySegment to, long toOffset) {
        PlainPanels of = BUFFERS.get();
        for (int from = 0; from < k; from += ROWS) {
            int rows = Math.min(ROWS, k - from);
            for (int j = 0; j < columns; j++) {
                MemorySegment.copy(b, Loops.F32, bOffset + 4 * (j * stride + from), of.column, 0, rows);
                spread(of.column, of.panel, j, rows);
            }
            long at = toOffset + 4L * from * NR;
            if (columns == NR) {
                MemorySegment.copy(of.panel, 0, to, Loops.F32, at, rows * NR);
            } else {
                for (int row = 0; row < rows; row++) {
                    MemorySegment.copy(of.panel, row * NR, to, Loops.F32, at + 4L * row * NR, columns);
                }
            }
        }
    }

    private static void spread(float[] column, float[] panel, int first, int rows) {
        for (int row = 0; row < rows; row++) {
            panel[row * NR + first] = column[row];
        }
    }
}
