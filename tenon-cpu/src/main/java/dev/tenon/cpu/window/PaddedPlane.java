package dev.tenon.cpu.window;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.WindowLoops;
import java.lang.foreign.MemorySegment;

/**
 * A plane with its padding around it, for strides with every so many rows and columns apart: each cell of the windows
 * is then one run of neighbouring elements for all positions, and one loop over whole vectors serves rows of any
 * length. Between the rows of results lie as many that mean nothing as a row has cells beyond its positions. Immutable.
 */
public final class PaddedPlane {
    /** What both planes may take: they are to stay in the second cache. */
    private static final long MOST_BYTES = 256 << 10;

    private final Windows3.Axis height;
    private final Windows3.Axis width;
    private final int lines;
    private final int pitch;
    private final int[] taps;
    private final boolean[] used;
    private final float padding;
    private final Loops loops = Loops.current();

    /** @param padding what cells in the padding count as */
    public PaddedPlane(Windows3 windows, float padding) {
        this.height = windows.height();
        this.width = windows.width();
        this.padding = padding;
        this.lines = lines(height);
        this.pitch = lines(width);
        this.taps = new int[windows.cells()];
        this.used = new boolean[height.stride() * width.stride()];
        for (int i = 0; i < taps.length; i++) {
            int down = i / width.kernel() * height.dilation();
            int across = i % width.kernel() * width.dilation();
            int phase = down % height.stride() * width.stride() + across % width.stride();
            used[phase] = true;
            int place = down / height.stride() * pitch + across / width.stride();
            taps[i] = 4 * (phase * lines * pitch + place);
        }
    }

    /** Whether windows have two dims, and their planes fit. */
    public static boolean suits(Windows3 windows) {
        Windows3.Axis depth = windows.depth();
        return depth.input() == 1
                && depth.output() == 1
                && depth.kernel() == 1
                && windows.outputArea() > 0
                && windows.inputArea() > 0
                && windows.cells() > 1
                && bytes(windows) <= MOST_BYTES;
    }

    private static long bytes(Windows3 windows) {
        Windows3.Axis height = windows.height();
        Windows3.Axis width = windows.width();
        long phase = SizeMath.product("window", lines(height), lines(width));
        long all = SizeMath.product("window", phase, height.stride(), width.stride());
        return SizeMath.product("window", SizeMath.sum("window", all, phase, 2L * WindowLoops.SLACK), 4);
    }

    /** Of a phase. */
    private static int lines(Windows3.Axis axis) {
        return SizeMath.toInt("window", axis.output() + (long) (axis.kernel() - 1) * axis.dilation() / axis.stride());
    }

    /** Bytes of both planes. */
    public long bytes() {
        return resultsAt() + 4L * (lines * (long) pitch + WindowLoops.SLACK);
    }

    /** Where results lie, in bytes. */
    public long resultsAt() {
        return 4L * (used.length * (long) lines * pitch + WindowLoops.SLACK);
    }

    /** Where each cell lies for the first position, in bytes. */
    public int[] taps() {
        return taps;
    }

    /** Results with those between the rows. */
    public int length() {
        return (height.output() - 1) * pitch + width.output();
    }

    /** Prepares memory for planes, once for any number of them. */
    public void clear(MemorySegment memory) {
        loops.fill(memory, 0, padding, (int) (resultsAt() / 4));
    }

    /** Copies a plane to where its cells are looked for. */
    public void load(MemorySegment source, long from, MemorySegment memory) {
        for (int phase = 0; phase < used.length; phase++) {
            if (!used[phase]) {
                continue;
            }
            int down = phase / width.stride() - height.before();
            int across = phase % width.stride() - width.before();
            int first = across >= 0 ? 0 : Math.ceilDiv(-across, width.stride());
            int count = Math.min(pitch, Math.ceilDiv(width.input() - across, width.stride())) - first;
            for (int line = 0; line < lines && count > 0; line++) {
                int row = line * height.stride() + down;
                if (row >= 0 && row < height.input()) {
                    long at = from + (long) row * width.input() + (long) first * width.stride() + across;
                    long to = (long) (phase * lines + line) * pitch + first;
                    row(source, at * 4, memory, to * 4, count);
                }
            }
        }
    }

    private void row(MemorySegment source, long at, MemorySegment memory, long to, int count) {
        if (width.stride() == 1) {
            Raw.copy(source, at, memory, to, 4L * count);
            return;
        }
        long step = 4L * width.stride();
        for (int i = 0; i < count; i++) {
            memory.set(Raw.F32, to + 4L * i, source.get(Raw.F32, at + i * step));
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
