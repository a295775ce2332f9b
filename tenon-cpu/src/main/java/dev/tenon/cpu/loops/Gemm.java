package dev.tenon.cpu.loops;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;

/**
 * Products of f32 matrices, one thread's worth: what matmul, convolution and attention share. The right operand is
 * packed in panels of {@link #NR} columns: element (row, column) of B is at
 * {@code panel * k * NR + row * NR + column % NR}, the columns past the last are zero.
 *
 * <p>Offsets are in bytes, counts in elements. Strides are in elements, those of a {@link Matrix} in bytes.
 */
public final class Gemm {
    /** Columns of a panel: two vectors, so that a row of the micro-kernel is two accumulators. */
    public static final int NR =
            MachineLoops.available() ? MachineLoops.columns() : Vectors.available() ? VectorLoops.PANEL : 16;

    /**
     * Rows of B between two visits to C: a block of a panel (64 KiB with 512-bit vectors) stays in the second-level
     * cache while all rows of A pass it.
     */
    private static final int K_BLOCK = 512;

    /**
     * Bytes of workspace that {@link #multiply} wants for the tiles that stick out on the right, or begin at something.
     */
    public static final long EDGE_BYTES = 8L * 4 * NR;

    /** C[m, n] = A[m, k] B[k, n]. */
    public record Size(int m, int n, int k) {}

    private Gemm() {}

    /** Bytes of a packed B. */
    public static long packedBytes(long k, long n) {
        return SizeMath.product("matmul", Math.ceilDiv(n, NR) * NR * 4, k);
    }

    /** Packs B[k, n], whose element (row, column) is at {@code row * rowStride + column * columnStride}. */
    public static void pack(
            MemorySegment b,
            long bOffset,
            long rowStride,
            long columnStride,
            int k,
            int n,
            MemorySegment to,
            long toOffset) {
        for (int column = 0; column < n; column += NR) {
            packPanel(
                    b,
                    bOffset + 4L * column * columnStride,
                    rowStride,
                    columnStride,
                    k,
                    Math.min(NR, n - column),
                    to,
                    toOffset + 4L * column * k);
        }
    }

    private static void packPanel(
            MemorySegment b,
            long bOffset,
            long rowStride,
            long columnStride,
            int k,
            int columns,
            MemorySegment to,
            long toOffset) {
        if (columns < NR) {
            to.asSlice(toOffset, 4L * k * NR).fill((byte) 0);
        }
        if (columnStride == 1) {
            Matrix rows = new Matrix(b, bOffset, 4 * rowStride);
            if (Segments.isNative(b) && MachineLoops.move(k, 4L * columns, rows, new Matrix(to, toOffset, 4L * NR))) {
                return;
            }
            for (int row = 0; row < k; row++) {
                MemorySegment.copy(b, bOffset + 4L * row * rowStride, to, toOffset + 4L * row * NR, 4L * columns);
            }
            return;
        }
        if (rowStride == 1) {
            int done = columns == NR
                    ? MachineLoops.turn(k, new Matrix(b, bOffset, 4 * columnStride), new Place(to, toOffset))
                    : 0;
            PlainPanels.transpose(
                    b, bOffset + 4L * done, columnStride, k - done, columns, to, toOffset + 4L * done * NR);
            return;
        }
        for (int j = 0; j < columns; j++) {
            long from = bOffset + 4L * j * columnStride;
            long at = toOffset + 4L * j;
            for (int row = 0; row < k; row++) {
                to.set(Loops.F32, at + 4L * row * NR, b.get(Loops.F32, from + 4L * row * rowStride));
            }
        }
    }

    /** From a packed panel to the next. */
    public static long panelBytes(int k) {
        return 4L * k * NR;
    }

    /**
     * C[m, n] = start + A[m, k] B.
     *
     * @param a rows of k consecutive elements
     * @param b packed: panels {@link #panelBytes} apart
     * @param c rows of n consecutive elements; overlaps neither operand
     * @param edge {@link #EDGE_BYTES} of workspace
     */
    public static void multiply(Loops loops, Size size, Matrix a, Matrix b, Matrix c, Start start, Place edge) {
        if (size.k <= K_BLOCK) {
            loops.product(size, a, b, c, start, edge);
            return;
        }
        int from = 0;
        do { // once for k = 0 too: C is then what it starts at
            int depth = Math.min(K_BLOCK, size.k - from);
            loops.product(
                    new Size(size.m, size.n, depth),
                    a.plus(4L * from),
                    b.plus(4L * from * NR),
                    c,
                    from == 0 ? start : Start.RESULT,
                    edge);
            from += depth;
        } while (from < size.k);
    }
}
