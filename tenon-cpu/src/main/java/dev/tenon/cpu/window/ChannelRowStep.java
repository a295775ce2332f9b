package dev.tenon.cpu.window;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Windows over up to two spatial dims of f32 whose channels lie side by side: a row of positions at a time, those whose
 * windows lie in the input together. No cell in the padding is read.
 */
public abstract class ChannelRowStep extends LoopStep {
    protected final Windows3 windows;
    protected final int channels;
    protected final ChannelLoops loops = ChannelLoops.current();
    private final int input;
    private final int output;
    /** Positions of a row whose windows lie whole in it. */
    private final int firstInner;

    private final int lastInner;
    /** Results of a row. */
    private final int across;

    /** @param windows of one slab */
    protected ChannelRowStep(
            String tier, Windows3 windows, long images, int channels, Node node, CpuLoweringContext context) {
        super(
                tier + ", " + ChannelLoops.current().tier(),
                images * windows.height().output(),
                (long) windows.width().output() * channels * (1 + windows.cells()) / 8);
        this.windows = windows;
        this.channels = channels;
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
        this.across = SizeMath.toInt("window", windows.width().output(), channels);
        this.firstInner = windows.width().firstPosition(0);
        this.lastInner = windows.width().lastPosition(windows.width().kernel() - 1);
    }

    /**
     * Makes the results of neighbouring positions.
     *
     * @param place which windows these are
     * @param to the first result's element
     */
    protected abstract void collect(
            CpuFrame frame, ChannelWindow cells, Position place, MemorySegment target, long to, int positions);

    /** What is left to do to a row of results. */
    protected abstract void finish(CpuFrame frame, MemorySegment target, long to, int count);

    /**
     * Where windows begin, in the padding too, and their first cells in the input.
     *
     * @param startH of the window
     * @param startW of the first position's window
     * @param line of the kernel, its first in the input
     * @param cell of a line, its first in the input
     */
    public record Position(int startH, int startW, int line, int cell) {}

    @Override
    public final void run(CpuFrame frame, long from, long end, int worker) {
        Windows3.Axis height = windows.height();
        MemorySegment target = frame.at(output);
        for (long unit = from; unit < end; unit++) {
            long image = unit / height.output();
            row(frame, image, height.start((int) (unit % height.output())), target, unit * across);
            finish(frame, target, unit * across, across);
        }
    }

    private void row(CpuFrame frame, long image, int startH, MemorySegment target, long to) {
        Windows3.Axis height = windows.height();
        Windows3.Axis width = windows.width();
        MemorySegment source = frame.at(input);
        int line = height.firstCell(startH);
        int lines = Math.max(line, height.lastCell(startH, height.input())) - line;
        long pixel = 4L * channels;
        long row = pixel * width.input();
        long first = image * windows.inputArea() * pixel + (startH + (long) line * height.dilation()) * row;
        for (int position = 0; position < width.output(); ) {
            int startW = width.start(position);
            boolean inner = position >= firstInner && position < lastInner;
            int cell = inner ? 0 : width.firstCell(startW);
            int cells = inner ? width.kernel() : Math.max(cell, width.lastCell(startW, width.input())) - cell;
            int positions = inner ? lastInner - position : 1;
            ChannelWindow window = new ChannelWindow(
                    source,
                    first + (startW + (long) cell * width.dilation()) * pixel,
                    cells == 0 ? 0 : lines,
                    row * height.dilation(),
                    cells,
                    pixel * width.dilation(),
                    pixel * width.stride());
            Position place = new Position(startH, startW, line, cell);
            collect(frame, window, place, target, to + (long) position * channels, positions);
            position += positions;
        }
    }
}
