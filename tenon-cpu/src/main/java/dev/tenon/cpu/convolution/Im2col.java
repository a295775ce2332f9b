package dev.tenon.cpu.convolution;

import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.MoveLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.loops.VectorMoves;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.loops.WindowLoops;
import dev.tenon.cpu.window.PaddedPlane;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The right operand of a convolution as a matrix product: row (channel, cell) holds, for each position of the output,
 * the input element that the cell of its window lies on, zero in the padding. Made a block at a time, never whole.
 *
 * <p>Immutable. Whatever needs a division is worked out once for all rows of a block: there are millions of rows.
 */
final class Im2col {
    /** Rows of positions up to so long are joined whole. */
    private static final int SHORT = 64;

    /** Columns of a block, at most. */
    static final int MOST_COLUMNS = 256;

    private static final long MOST_BYTES = 256 << 10;

    private final Windows3 windows;
    private final boolean pointwise;
    private final WindowLoops moves = WindowLoops.current();
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
    /** Of two dims: the planes that the windows are taken from. */
    private final @Nullable PaddedPlane padded;

    Im2col(Windows3 windows) {
        this.windows = windows;
        this.pointwise = windows.isPointwise();
        this.padded = padded(windows);
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

    /** Null where a block is a part of a row: each would load whole rows, and where its rows do not fit the cache. */
    private static @Nullable PaddedPlane padded(Windows3 windows) {
        int across = windows.width().output();
        if (windows.isPointwise() || !PaddedPlane.isFlat(windows) || across > MOST_COLUMNS) {
            return null;
        }
        PaddedPlane planes = new PaddedPlane(windows, 0);
        return planes.bytes(lines(planes, Math.ceilDiv(MOST_COLUMNS, across) + 1)) <= MOST_BYTES ? planes : null;
    }

    /** Bytes of workspace for one row of {@code columns} columns, before it is spread, and for what it is made of. */
    long lineBytes(int columns) {
        long line = 4L * (SHORT + Math.ceilDiv(columns, Gemm.NR) * Gemm.NR + SHORT + WindowLoops.SLACK);
        return padded == null ? line : line + padded.bytes(lines(padded, Math.ceilDiv(columns, outW) + 1));
    }

    /** Of each phase, for so many rows of positions. */
    private static int lines(PaddedPlane padded, int rows) {
        return rows + padded.reach();
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
        if (padded != null) {
            pack(padded, source, x, block, to, toByte, line, lineByte);
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

    private void pack(
            PaddedPlane planes,
            MemorySegment source,
            long x,
            Block block,
            MemorySegment to,
            long toByte,
            MemorySegment line,
            long lineByte) {
        int columns = block.columns;
        int position = (int) (block.firstColumn % outW);
        int firstLine = (int) (block.firstColumn / outW);
        int rows = Math.ceilDiv(position + columns, outW);
        int lines = lines(planes, rows);
        long start = lineByte + 4L * SHORT;
        long planeByte = lineByte + 4L * (SHORT + Math.ceilDiv(columns, Gemm.NR) * Gemm.NR + SHORT + WindowLoops.SLACK);
        planes.clear(line, planeByte, lines);
        int cells = windows.cells();
        long plane = x + block.firstRow / cells * windows.inputArea();
        int cell = block.firstRow % cells;
        for (int row = 0; row < block.rows; ) {
            planes.load(source, plane, firstLine, lines, line, planeByte);
            for (; cell < cells && row < block.rows; cell++, row++) {
                join(line, planeByte + planes.tap(cell, lines), 4L * planes.pitch(), start, position, columns);
                spread(line, start, columns, to, toByte + 4L * row * Gemm.NR, block.rows);
            }
            cell = 0;
            plane += windows.inputArea();
        }
    }

    /** Puts the positions of a cell, which lie in rows with a gap between them, one behind the other. */
    private void join(MemorySegment memory, long from, long step, long to, int position, int columns) {
        if (outW <= SHORT) { // whole rows: there is room for what is too much at both ends
            int rows = Math.ceilDiv(position + columns, outW);
            Raw.joinRows(memory, from, step, memory, to - 4L * position, 4L * outW, rows);
            return;
        }
        int head = Math.min(columns, outW - position);
        Raw.joinRows(memory, from + 4L * position, step, memory, to, 4L * head, 1);
        int rows = (columns - head) / outW;
        Raw.joinRows(memory, from + step, step, memory, to + 4L * head, 4L * outW, rows);
        int rest = (columns - head) % outW;
        Raw.joinRows(memory, from + (rows + 1) * step, step, memory, to + 4L * (columns - rest), 4L * rest, 1);
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
                moves.everyOther(source, element * 4, stride, to, at + 4L * (from - position), until - from);
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
