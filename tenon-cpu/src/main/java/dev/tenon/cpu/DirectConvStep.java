package dev.tenon.cpu;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import java.lang.foreign.MemorySegment;

/** Convolution of any float type, an element of the output at a time, summed in f64; a unit is one row of the output. */
final class DirectConvStep extends LoopStep {
    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final DType dtype;
    private final int input;
    private final int weights;
    private final int output;

    DirectConvStep(ConvShape shape, ConvEpilogue epilogue, Node node, LoweringContext context) {
        Windows3 windows = shape.windows();
        long rows = windows.outputArea() == 0
                ? 0
                : shape.planes() * windows.depth().output() * windows.height().output();
        super("direct", rows, windows.width().output() * Math.max(1, shape.depth()));
        this.shape = shape;
        this.epilogue = epilogue;
        this.dtype = node.output().dtype();
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(Frame frame, long from, long to, int worker) {
        Windows3 windows = shape.windows();
        int outH = windows.height().output();
        int outD = windows.depth().output();
        int outW = windows.width().output();
        int allOut = shape.groups() * shape.channelsOut();
        for (long row = from; row < to; row++) {
            int h = (int) (row % outH);
            int d = (int) (row / outH % outD);
            long plane = row / outH / outD;
            int channel = (int) (plane % allOut);
            long group = plane / allOut * shape.groups() + channel / shape.channelsOut();
            long x = group * shape.channelsIn() * windows.inputArea();
            for (int w = 0; w < outW; w++) {
                double sum = sum(frame, x, channel * shape.depth(), d, h, w);
                epilogue.store(frame, frame.at(output), row * outW + w, channel, sum);
            }
        }
    }

    private double sum(Frame frame, long x, long filter, int outD, int outH, int outW) {
        Windows3.Axis depth = shape.windows().depth();
        Windows3.Axis height = shape.windows().height();
        Windows3.Axis width = shape.windows().width();
        int startD = depth.start(outD);
        int startH = height.start(outH);
        int startW = width.start(outW);
        int lastD = depth.lastCell(startD, depth.input());
        int lastH = height.lastCell(startH, height.input());
        int lastW = width.lastCell(startW, width.input());
        MemorySegment source = frame.at(input);
        MemorySegment kernel = frame.at(weights);
        double sum = 0;
        for (int c = 0; c < shape.channelsIn(); c++) {
            for (int d = depth.firstCell(startD); d < lastD; d++) {
                for (int h = height.firstCell(startH); h < lastH; h++) {
                    long cell = filter + (((long) c * depth.kernel() + d) * height.kernel() + h) * width.kernel();
                    long line = x
                            + (((long) c * depth.input() + startD + d * depth.dilation()) * height.input()
                                            + startH
                                            + h * height.dilation())
                                    * width.input()
                            + startW;
                    for (int w = width.firstCell(startW); w < lastW; w++) {
                        sum += Elements.getDouble(dtype, kernel, cell + w)
                                * Elements.getDouble(dtype, source, line + (long) w * width.dilation());
                    }
                }
            }
        }
        return sum;
    }
}
