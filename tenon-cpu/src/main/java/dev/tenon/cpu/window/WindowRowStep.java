package dev.tenon.cpu.window;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Taps;
import dev.tenon.cpu.loops.WindowLoops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Windows over the planes of f32, a row of the output at a time: each row collects the rows of the input that its
 * windows touch, whole vectors of positions where all cells are inside, the borders one by one.
 */
public abstract class WindowRowStep extends LoopStep {
    /**
     * Rows of cells of a kernel, where they lie for the first of neighbouring positions.
     *
     * @param plane number of the plane, of all batches and channels
     * @param source the input
     * @param from element of the input that the first cell lies on
     * @param lines rows of the kernel
     * @param step elements of the input from a row to the next
     * @param cell the first cell's number in the kernel
     * @param taps cells of a row
     */
    public record Cells(long plane, MemorySegment source, long from, int lines, long step, int cell, int taps) {}

    public final Windows3 windows;
    public final WindowLoops rows = WindowLoops.current();
    /** The positions at which all cells of a row of the kernel are inside. */
    private final int inner;

    private final int innerEnd;
    private final int input;
    private final int output;

    public WindowRowStep(String tier, Windows3 windows, Node node, CpuLoweringContext context) {
        long planes = node.output().shape().elements(0, 2);
        Windows3.Axis width = windows.width();
        super(
                tier + ", " + WindowLoops.current().tier(),
                windows.outputArea() == 0
                        ? 0
                        : planes * windows.depth().output() * windows.height().output(),
                (long) width.output() * windows.cells() / 4);
        this.windows = windows;
        this.inner = Math.min(width.output(), width.firstPosition(0));
        this.innerEnd = Math.max(inner, width.lastPosition(width.kernel() - 1));
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    /** Sets what the row starts from, {@code outW} elements from {@code to} on. */
    public abstract void begin(CpuFrame frame, long plane, MemorySegment target, long to);

    /** Takes cells into {@code count} positions, which are elements from {@code to} on. */
    public abstract void collect(CpuFrame frame, Cells cells, MemorySegment target, long to, int count);

    /** What is left to do when all rows are in; {@code startD} and {@code startH} say where the windows are. */
    public abstract void finish(CpuFrame frame, int startD, int startH, MemorySegment target, long to);

    @Override
    public final void run(CpuFrame frame, long from, long end, int worker) {
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        int outW = windows.width().output();
        int inW = windows.width().input();
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        for (long row = from; row < end; row++) {
            int startH = height.start((int) (row % height.output()));
            int startD = depth.start((int) (row / height.output() % depth.output()));
            long plane = row / height.output() / depth.output();
            long to = row * outW;
            begin(frame, plane, target, to);
            int firstH = height.firstCell(startH);
            int lines = height.lastCell(startH, height.input()) - firstH;
            int lastD = depth.lastCell(startD, depth.input());
            for (int d = depth.firstCell(startD); d < lastD && lines > 0; d++) {
                long line = plane * windows.inputArea()
                        + ((startD + (long) d * depth.dilation()) * height.input()
                                        + startH
                                        + (long) firstH * height.dilation())
                                * inW;
                int cell = (d * height.kernel() + firstH) * windows.width().kernel();
                lines(frame, plane, source, line, lines, cell, target, to);
            }
            finish(frame, startD, startH, target, to);
        }
    }

    /** Cells as {@link WindowLoops} take them. */
    protected final Taps taps(Cells cells) {
        Windows3.Axis width = windows.width();
        return new Taps(
                cells.source,
                cells.from * 4,
                cells.lines,
                cells.step * 4,
                cells.taps,
                width.dilation(),
                width.stride());
    }

    private void lines(
            CpuFrame frame,
            long plane,
            MemorySegment source,
            long line,
            int lines,
            int cell,
            MemorySegment target,
            long to) {
        Windows3.Axis width = windows.width();
        long step = (long) width.input() * windows.height().dilation();
        for (int position = 0; position < width.output(); position++) {
            if (position == inner && innerEnd > inner) {
                long from = line + width.start(inner);
                Cells cells = new Cells(plane, source, from, lines, step, cell, width.kernel());
                collect(frame, cells, target, to + inner, innerEnd - inner);
                position = innerEnd - 1;
                continue;
            }
            int start = width.start(position);
            int first = width.firstCell(start);
            int taps = width.lastCell(start, width.input()) - first;
            if (taps > 0) {
                long from = line + start + (long) first * width.dilation();
                Cells cells = new Cells(plane, source, from, lines, step, cell + first, taps);
                collect(frame, cells, target, to + position, 1);
            }
        }
    }
}
