package dev.tenon.cpu;

import dev.tenon.core.ir.Node;
import java.lang.foreign.MemorySegment;

/** Convolution of f32 where each channel has a filter of its own: rows of the output collect the rows of the input that their windows touch. A unit is one row of the output. */
final class DepthwiseConvStep extends LoopStep {
    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final Kernels kernels = Kernels.current();
    private final WindowKernels rows = WindowKernels.current();
    private final int input;
    private final int weights;
    private final int output;

    DepthwiseConvStep(ConvShape shape, ConvEpilogue epilogue, Node node, LoweringContext context) {
        Windows3 windows = shape.windows();
        super(
                "depthwise rows, " + WindowKernels.current().tier(),
                windows.outputArea() == 0
                        ? 0
                        : shape.planes()
                                * windows.depth().output()
                                * windows.height().output(),
                (long) windows.width().output() * windows.cells() / 4);
        this.shape = shape;
        this.epilogue = epilogue;
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(Frame frame, long from, long to, int worker) {
        Windows3 windows = shape.windows();
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        int outW = windows.width().output();
        MemorySegment target = frame.at(output);
        for (long row = from; row < to; row++) {
            int startH = height.start((int) (row % height.output()));
            int startD = depth.start((int) (row / height.output() % depth.output()));
            long plane = row / height.output() / depth.output();
            long channel = plane % shape.groups();
            kernels.fill(target, row * outW * 4, epilogue.start(frame, channel), outW);
            int lastD = depth.lastCell(startD, depth.input());
            int lastH = height.lastCell(startH, height.input());
            for (int d = depth.firstCell(startD); d < lastD; d++) {
                for (int h = height.firstCell(startH); h < lastH; h++) {
                    long filter = channel * windows.cells()
                            + ((long) d * height.kernel() + h) * windows.width().kernel();
                    long line = plane * windows.inputArea()
                            + ((long) (startD + d * depth.dilation()) * height.input() + startH + h * height.dilation())
                                    * windows.width().input();
                    line(frame, line, filter, target, row * outW);
                }
            }
            epilogue.finish(frame, kernels, target, row * outW, outW);
        }
    }

    /** Adds one row of the input by one row of the filter: where all cells are inside at once, the borders cell by cell. */
    private void line(Frame frame, long line, long filter, MemorySegment target, long to) {
        Windows3.Axis width = shape.windows().width();
        MemorySegment source = frame.at(input);
        MemorySegment filters = frame.at(weights);
        int last = width.kernel() - 1;
        int from = Math.min(width.output(), width.firstPosition(0));
        int end = Math.max(from, width.lastPosition(last));
        border(source, line, filters, filter, target, to, 0, from);
        rows.correlate(
                source,
                (line + width.start(from)) * 4,
                filters,
                filter * 4,
                width.kernel(),
                width.dilation(),
                width.stride(),
                target,
                (to + from) * 4,
                end - from);
        border(source, line, filters, filter, target, to, end, width.output());
    }

    private void border(
            MemorySegment source,
            long line,
            MemorySegment filters,
            long filter,
            MemorySegment target,
            long to,
            int from,
            int end) {
        Windows3.Axis width = shape.windows().width();
        for (int position = from; position < end; position++) {
            int start = width.start(position);
            int lastCell = width.lastCell(start, width.input());
            float sum = target.get(Raw.F32, (to + position) * 4);
            for (int cell = width.firstCell(start); cell < lastCell; cell++) {
                long at = line + start + (long) cell * width.dilation();
                sum += filters.get(Raw.F32, (filter + cell) * 4) * source.get(Raw.F32, at * 4);
            }
            target.set(Raw.F32, (to + position) * 4, sum);
        }
    }
}
