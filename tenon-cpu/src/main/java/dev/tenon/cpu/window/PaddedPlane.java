package dev.tenon.cpu.window;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.WindowLoops;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/**
 * A plane with its padding around it, for strides with every so many rows and columns apart: each cell of the windows
 * is then one run of neighbouring elements for all positions, and one loop over whole vectors serves rows of any
 * length. Between the rows of results lie as many that mean nothing as a row has cells beyond its positions. Immutable.
 */
public final class PaddedPlane {
    /** What both planes may take: they are to stay in the second cache. */
    private static final long MOST_BYTES = 256 << 10;

    private static final int MOST_PHASES = 1 << 10;
    private static final int MOST_LINES = 1 << 20;

    private final Windows3.Axis height;
    private final Windows3.Axis width;
    private final int cells;
    private final int lines;
    private final int pitch;
    private final boolean[] used;
    private final float padding;
    private final Loops loops = Loops.current();
    private final WindowLoops moves = WindowLoops.current();

    /** @param padding what cells in the padding count as */
    public PaddedPlane(Windows3 windows, float padding) {
        this.height = windows.height();
        this.width = windows.width();
        this.padding = padding;
        this.cells = windows.cells();
        this.lines = lines(height);
        this.pitch = lines(width);
        this.used = new boolean[height.stride() * width.stride()];
        for (int i = 0; i < cells; i++) {
            used[phase(i)] = true;
        }
    }

    /** Whether windows have two dims, and lines and phases that can be counted. */
    public static boolean isFlat(Windows3 windows) {
        Windows3.Axis depth = windows.depth();
        return depth.input() == 1
                && depth.output() == 1
                && depth.kernel() == 1
                && depth.before() == 0 // or the only window lies in the padding
                && windows.outputArea() > 0
                && windows.inputArea() > 0
                && (long) windows.height().stride() * windows.width().stride() <= MOST_PHASES
                && linesOf(windows.height()) <= MOST_LINES
                && linesOf(windows.width()) <= MOST_LINES;
    }

    /** Whether windows have two dims and several cells, and their planes fit the cache. */
    public static boolean suits(Windows3 windows) {
        return isFlat(windows) && windows.cells() > 1 && new PaddedPlane(windows, 0).bytes() <= MOST_BYTES;
    }

    /** Of a phase. */
    private static int lines(Windows3.Axis axis) {
        return SizeMath.toInt("window", linesOf(axis));
    }

    private static long linesOf(Windows3.Axis axis) {
        return axis.output() + (long) (axis.kernel() - 1) * axis.dilation() / axis.stride();
    }

    private int phase(int cell) {
        int down = cell / width.kernel() * height.dilation();
        int across = cell % width.kernel() * width.dilation();
        return down % height.stride() * width.stride() + across % width.stride();
    }

    /** Where a cell lies for the first position of planes with so many lines a phase, in bytes. */
    public long tap(int cell, int count) {
        int down = cell / width.kernel() * height.dilation() / height.stride();
        int across = cell % width.kernel() * width.dilation() / width.stride();
        return 4L * ((phase(cell) * (long) count + down) * pitch + across);
    }

    /** {@link #tap} of each cell of whole planes. */
    public int[] taps() {
        return IntStream.range(0, cells).map(cell -> (int) tap(cell, lines)).toArray();
    }

    /** Lines of a phase that the cells of a position's window reach beyond its own. */
    public int reach() {
        return lines - height.output();
    }

    /** From a line to the next, in elements. */
    public int pitch() {
        return pitch;
    }

    /** Bytes of so many lines of each phase, with what loops may touch beyond. */
    public long bytes(int count) {
        return 4 * (SizeMath.product("window", used.length, count, pitch) + WindowLoops.SLACK);
    }

    /** Bytes of both planes. */
    public long bytes() {
        return resultsAt() + 4L * (lines * (long) pitch + WindowLoops.SLACK);
    }

    /** Where results lie, in bytes. */
    public long resultsAt() {
        return bytes(lines);
    }

    /** Results with those between the rows. */
    public int length() {
        return (height.output() - 1) * pitch + width.output();
    }

    /** Prepares memory for planes, once for any number of them. */
    public void clear(MemorySegment memory) {
        clear(memory, 0, lines);
    }

    /** Prepares memory for so many lines of each phase. */
    public void clear(MemorySegment memory, long at, int count) {
        loops.fill(memory, at, padding, (int) (bytes(count) / 4));
    }

    /** Copies a plane to where its cells are looked for. */
    public void load(MemorySegment source, long from, MemorySegment memory) {
        load(source, from, 0, lines, memory, 0);
    }

    /**
     * Copies the part of a plane that the windows of some rows of positions lie on.
     *
     * @param from the plane's first element
     * @param first the first row of positions
     * @param count lines of each phase: rows of positions, and {@link #reach}
     * @param at where the lines begin, in bytes; cleared
     */
    public void load(MemorySegment source, long from, int first, int count, MemorySegment memory, long at) {
        for (int phase = 0; phase < used.length; phase++) {
            if (!used[phase]) {
                continue;
            }
            int down = phase / width.stride() - height.before();
            int across = phase % width.stride() - width.before();
            int left = across >= 0 ? 0 : Math.ceilDiv(-across, width.stride());
            int columns = Math.min(pitch, Math.ceilDiv(width.input() - across, width.stride())) - left;
            for (int line = 0; line < count && columns > 0; line++) {
                long row = (long) (first + line) * height.stride() + down;
                if (row >= 0 && row < height.input()) {
                    long element = from + row * width.input() + (long) left * width.stride() + across;
                    long to = (phase * (long) count + line) * pitch + left;
                    moves.everyOther(source, element * 4, width.stride(), memory, at + to * 4, columns);
                }
            }
        }
    }

    /** Copies the results out, without those between the rows. */
    public void store(MemorySegment memory, MemorySegment target, long to) {
        long row = 4L * width.output();
        for (int line = 0; line < height.output(); line++) {
            Raw.copy(memory, resultsAt() + 4L * line * pitch, target, 4 * to + line * row, row);
        }
    }
}
