package dev.tenon.cpu.convolution;

import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.MoveLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.loops.VectorMoves;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/**
 * The right operand of a convolution as a matrix product: row (channel, cell) holds, for each position of the output,
 * the input element that the cell of its window lies on, zero in the padding. Made a block at a time, never whole.
 *
 * <p>Immutable. Whatever needs a division is worked out once for all rows of a block: there are millions of rows.
 */
final class Im2col {
    private final Windows3 windows;
    private final boolean pointwise;
    private final int inH;
    private final int inD;
    private final int inW;
    private final int outW;
    private final int stride;
    /**
     * For each cell of a row of the kernel: the first position that has it in the input, one past the last, and how far
     * it is from its window's place.
     */
    private final int[] firstW;

    private final int[] lastW;
    private final int[] offsetW;

    Im2col(Windows3 windows) {
        this.windows = windows;
        this.pointwise = windows.isPointwise();
        Windows3.Axis width = windows.width();
        this.inD = windows.depth().input();
        this.inH = windows.height().input();
        this.inW = width.input();
        this.outW = width.output();
        this.stride = width.stride();
        int cells = width.kernel();
        this.firstW = new int[cells];
        this.lastW = new int[cells];
        this.offsetW = new int[cells];
        for (int cell = 0; cell < cells; cell++) {
            firstW[cell] = width.firstPosition(cell);
            lastW[cell] = width.lastPosition(cell);
            offsetW[cell] = cell * width.dilation() - width.before();
        }
    }

    /** Bytes of workspace for one row of {@code columns} columns, before it is spread over the panels. */
    static long lineBytes(int columns) {
        return 4L * Math.ceilDiv(columns, Gemm.NR) * Gemm.NR;
    }

    /**
     * A part of the matrix: rows [firstRow, firstRow + rows) of columns [firstColumn, firstColumn + columns).
     *
     * @param firstRow number of the first row's channel and cell
     * @param firstColumn position in the output
     */
    record Block(int firstRow, int rows, long firstColumn, int columns) {}

    /**
     * A row of a block: a cell of the kernel over one channel.
     *
     * @param plane the element that the channel starts at
     * @param w the cell's number in a row of the kernel
     * @param startD slab of the input that the cell lies on for the first position
     * @param startH row of the input that the cell lies on for the first position; {@code offsetH} of it is the cell's
     *     own
     */
    private record Cell(long plane, int w, int startD, int startH, int offsetH) {}

    /**
     * Packs a block in panels as {@link Gemm} wants them.
     *
     * @param x the element that the first channel starts at
     * @param line {@link #lineBytes} of workspace at {@code lineByte}
     */
    void pack(
            MemorySegment source,
            long x,
            Block block,
            MemorySegment to,
            long toByte,
            MemorySegment line,
            long lineByte) {
        int rows = block.rows;
        int columns = block.columns;
        long area = windows.inputArea();
        if (pointwise) {
            for (int row = 0; row < rows; row++) {
                long from = x + (block.firstRow + row) * area + block.firstColumn;
                spread(source, from * 4, columns, to, toByte + 4L * row * Gemm.NR, rows);
            }
            return;
        }
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        int position = (int) (block.firstColumn % outW);
        long outLine = block.firstColumn / outW;
        int startH = height.start((int) (outLine % height.output()));
        int startD = depth.start((int) (outLine / height.output()));
        int cells = windows.cells();
        long plane = x + block.firstRow / cells * area;
        int number = block.firstRow % cells;
        int cellW = number % offsetW.length;
        int cellH = number / offsetW.length % height.kernel();
        int cellD = number / offsetW.length / height.kernel();
        for (int row = 0; row < rows; row++) {
            int fromD = startD + cellD * depth.dilation();
            int offsetH = cellH * height.dilation();
            Cell cell = new Cell(plane, cellW, fromD, startH + offsetH, offsetH);
            row(source, cell, position, columns, line, lineByte);
            spread(line, lineByte, columns, to, toByte + 4L * row * Gemm.NR, rows);
            if (++cellW == offsetW.length) {
                cellW = 0;
                if (++cellH == height.kernel()) {
                    cellH = 0;
                    if (++cellD == depth.kernel()) {
                        cellD = 0;
                        plane += area;
                    }
                }
            }
        }
    }

    /** One row, a span of neighbouring positions at a time. */
    private void row(MemorySegment source, Cell cell, int firstPosition, int columns, MemorySegment to, long toByte) {
        Windows3.Axis height = windows.height();
        int firstH = height.start(0) + cell.offsetH;
        int lastH = height.start(height.output() - 1) + cell.offsetH;
        int strideH = height.stride();
        int first = firstW[cell.w];
        int last = lastW[cell.w];
        long origin = cell.plane + offsetW[cell.w];
        int position = firstPosition;
        int atH = cell.startH;
        int atD = cell.startD;
        long at = toByte;
        int left = columns;
        while (left > 0) {
            int count = Math.min(left, outW - position);
            int end = position + count;
            if (atH >= 0 && atH < inH && atD >= 0 && atD < inD) {
                int from = Math.min(Math.max(first, position), end);
                int until = Math.max(from, Math.min(last, end));
                zeros(to, at, from - position);
                long element = origin + ((long) atD * inH + atH) * inW + (long) from * stride;
                line(source, element * 4, until - from, to, at + 4L * (from - position));
                zeros(to, at + 4L * (until - position), end - until);
            } else {
                zeros(to, at, count);
            }
            at += 4L * count;
            left -= count;
            position = 0;
            if (atH == lastH) {
                atH = firstH;
                atD += windows.depth().stride();
            } else {
                atH += strideH;
            }
        }
    }

    private void line(MemorySegment source, long fromByte, int count, MemorySegment to, long toByte) {
        if (stride == 1) {
            Raw.copy(source, fromByte, to, toByte, 4L * count);
            return;
        }
        int step = 4 * stride;
        for (int i = 0; i < count; i++) {
            to.set(Raw.I32, toByte + 4L * i, source.get(Raw.I32, fromByte + (long) i * step));
        }
    }

    private static void zeros(MemorySegment to, long at, int count) {
        for (int i = 0; i < count; i++) {
            to.set(Raw.I32, at + 4L * i, 0);
        }
    }

    /** Cuts a row at the borders of the panels. */
    private static void spread(
            MemorySegment from, long fromByte, int columns, MemorySegment to, long toByte, int rows) {
        int panels = columns / Gemm.NR;
        long step = 4L * Gemm.NR * rows;
        if (Vectors.available() && MoveLoops.get().spread.ready() && Segments.isNative(from) && Segments.isNative(to)) {
            VectorMoves.spread(from, fromByte, panels, to, toByte, step);
        } else {
            for (int panel = 0; panel < panels; panel++) {
                Raw.copy(from, fromByte + 4L * Gemm.NR * panel, to, toByte + step * panel, 4L * Gemm.NR);
            }
        }
        long rest = 4L * (columns - panels * Gemm.NR);
        Raw.copy(from, fromByte + 4L * Gemm.NR * panels, to, toByte + step * panels, rest);
    }
}
