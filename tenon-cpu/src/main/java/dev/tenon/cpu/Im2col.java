package dev.tenon.cpu;

import java.lang.foreign.MemorySegment;

/**
 * The right operand of a convolution as a matrix product: row (channel, cell) holds, for each position of the output, the input element that the cell of its window lies on, zero in the padding. Made a block at a time, never whole.
 */
final class Im2col {
    private final Windows3 windows;
    private final boolean pointwise;

    Im2col(Windows3 windows) {
        this.windows = windows;
        this.pointwise = windows.isPointwise();
    }

    /** Bytes of scratch for one row of {@code columns} columns, before it is spread over the panels. */
    static long lineBytes(int columns) {
        return 4L * Math.ceilDiv(columns, Gemm.NR) * Gemm.NR;
    }

    /**
     * Packs rows [firstRow, firstRow + rows) of columns [firstColumn, firstColumn + columns) in panels as {@link Gemm} wants them.
     *
     * @param x the element that the first channel starts at
     * @param line {@link #lineBytes} of scratch at {@code lineByte}
     */
    void pack(
            MemorySegment source,
            long x,
            int firstRow,
            int rows,
            long firstColumn,
            int columns,
            MemorySegment to,
            long toByte,
            MemorySegment line,
            long lineByte) {
        int cells = windows.cells();
        for (int row = 0; row < rows; row++) {
            int channel = (firstRow + row) / cells;
            long plane = x + channel * windows.inputArea();
            long at = toByte + 4L * row * Gemm.NR;
            if (pointwise) {
                spread(source, (plane + firstColumn) * 4, columns, to, at, rows);
            } else {
                row(source, plane, (firstRow + row) % cells, firstColumn, columns, line, lineByte);
                spread(line, lineByte, columns, to, at, rows);
            }
        }
    }

    /** Cuts a row at the borders of the panels. */
    private static void spread(
            MemorySegment from, long fromByte, int columns, MemorySegment to, long toByte, int rows) {
        for (int column = 0; column < columns; column += Gemm.NR) {
            long bytes = 4L * Math.min(Gemm.NR, columns - column);
            Raw.copy(from, fromByte + 4L * column, to, toByte + 4L * column * rows, bytes);
        }
    }

    private void row(
            MemorySegment source, long plane, int cell, long firstColumn, int columns, MemorySegment to, long toByte) {
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        Windows3.Axis width = windows.width();
        int cellW = cell % width.kernel();
        int cellH = cell / width.kernel() % height.kernel();
        int cellD = cell / width.kernel() / height.kernel();
        int firstW = width.firstPosition(cellW);
        int lastW = width.lastPosition(cellW);
        int offsetW = cellW * width.dilation() - width.before();
        int position = (int) (firstColumn % width.output());
        long line = firstColumn / width.output();
        int outH = (int) (line % height.output());
        int outD = (int) (line / height.output());
        long at = toByte;
        int left = columns;
        while (left > 0) {
            int count = Math.min(left, width.output() - position);
            int inD = depth.start(outD) + cellD * depth.dilation();
            int inH = height.start(outH) + cellH * height.dilation();
            boolean inside = inD >= 0 && inD < depth.input() && inH >= 0 && inH < height.input();
            int from = inside ? Math.clamp(firstW, position, position + count) : position + count;
            int end = inside ? Math.clamp(lastW, from, position + count) : position + count;
            zeros(to, at, from - position);
            long first = plane
                    + ((long) inD * height.input() + inH) * width.input()
                    + (long) from * width.stride()
                    + offsetW;
            line(source, first, width.stride(), end - from, to, at + 4L * (from - position));
            zeros(to, at + 4L * (end - position), position + count - end);
            at += 4L * count;
            left -= count;
            position = 0;
            if (++outH == height.output()) {
                outH = 0;
                outD++;
            }
        }
    }

    private static void zeros(MemorySegment to, long at, int count) {
        for (int i = 0; i < count; i++) {
            to.set(Raw.I32, at + 4L * i, 0);
        }
    }

    private static void line(MemorySegment source, long first, int stride, int count, MemorySegment to, long toByte) {
        if (stride == 1) {
            Raw.copy(source, first * 4, to, toByte, 4L * count);
            return;
        }
        for (int i = 0; i < count; i++) {
            to.set(Raw.I32, toByte + 4L * i, source.get(Raw.I32, (first + (long) i * stride) * 4));
        }
    }
}
