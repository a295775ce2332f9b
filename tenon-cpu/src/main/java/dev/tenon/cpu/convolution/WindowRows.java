package dev.tenon.cpu.convolution;

import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/**
 * The left operand of a convolution as a matrix product where channels lie side by side: row p holds the cells of
 * window p, one behind the other, each with the channels of a group; zero in the padding. Made a block at a time.
 *
 * @param windows of one slab
 * @param channels of the input
 * @param part channels of a group
 */
record WindowRows(Windows3 windows, int channels, int part) {
    /**
     * Some rows and cells of the matrix.
     *
     * @param row the first
     * @param cell the first
     */
    record Block(long row, int rows, int cell, int cells) {}

    /** Where a line of windows' cells goes: the first position's first cell, and the bytes from a row to the next. */
    private record Target(MemorySegment memory, long at, long step) {
        Target plus(long bytes) {
            return new Target(memory, at + bytes, step);
        }

        Matrix rows(long skipped) {
            return new Matrix(memory, at + skipped * step, step);
        }
    }

    /**
     * Packs a block.
     *
     * @param x the element of the group's first channel in the image's first place
     * @param to takes rows of the block's cells, from its start on
     */
    void pack(MemorySegment source, long x, Block block, MemorySegment to) {
        int across = windows.width().output();
        long step = 4L * block.cells * part;
        long position = block.row;
        for (int done = 0; done < block.rows; ) {
            int line = (int) (position / across);
            int first = (int) (position % across);
            int count = Math.min(across - first, block.rows - done);
            line(source, x, block, line, first, first + count, new Target(to, done * step, step));
            done += count;
            position += count;
        }
    }

    /** The positions from {@code first} to {@code end} of one row of the output. */
    private void line(MemorySegment source, long x, Block block, int line, int first, int end, Target to) {
        Windows3.Axis height = windows.height();
        int across = windows.width().kernel();
        int last = block.cell + block.cells;
        for (int cell = block.cell; cell < last; ) {
            int from = cell % across;
            int until = Math.min(across, from + last - cell);
            int row = height.start(line) + cell / across * height.dilation();
            Target place = to.plus(4L * (cell - block.cell) * part);
            if (row < 0 || row >= height.input()) {
                zeros(place, 0, end - first, (until - from) * part);
            } else {
                long at = x + (long) row * windows.width().input() * channels;
                cells(source, at, from, until, first, end, place);
            }
            cell += until - from;
        }
    }

    /** Neighbouring cells of a row of the kernel; together where they lie one behind the other in the input. */
    private void cells(MemorySegment source, long row, int from, int until, int first, int end, Target to) {
        Windows3.Axis width = windows.width();
        int low = Math.max(first, width.firstPosition(from));
        int high = Math.min(end, width.lastPosition(until - 1));
        boolean joined = part == channels && width.dilation() == 1 && until - from > 1 && low < high;
        if (!joined) {
            apart(source, row, from, until, first, end, to);
            return;
        }
        move(source, row, from, until - from, low, high, to.rows(low - first));
        apart(source, row, from, until, first, low, to);
        apart(source, row, from, until, high, end, to.plus((high - first) * to.step));
    }

    private void apart(MemorySegment source, long row, int from, int until, int first, int end, Target to) {
        Windows3.Axis width = windows.width();
        for (int cell = from; cell < until && first < end; cell++) {
            int low = Math.clamp(width.firstPosition(cell), first, end);
            int high = Math.clamp(width.lastPosition(cell), low, end);
            Target place = to.plus(4L * (cell - from) * part);
            zeros(place, 0, low - first, part);
            move(source, row, cell, 1, low, high, place.rows(low - first));
            zeros(place, high - first, end - high, part);
        }
    }

    private void move(MemorySegment source, long row, int cell, int cells, int first, int end, Matrix to) {
        if (first >= end) {
            return;
        }
        Windows3.Axis width = windows.width();
        long at = row + (width.start(first) + (long) cell * width.dilation()) * channels;
        Matrix from = new Matrix(source, 4 * at, 4L * width.stride() * channels);
        Raw.moveRows(end - first, 4L * cells * part, from, to);
    }

    private static void zeros(Target to, int skipped, int rows, int count) {
        for (int row = 0; row < rows; row++) {
            Loops.current().fill(to.memory, to.at + (skipped + row) * to.step, 0, count);
        }
    }
}
