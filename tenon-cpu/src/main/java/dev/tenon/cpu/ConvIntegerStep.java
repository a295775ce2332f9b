package dev.tenon.cpu;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.ConvInteger;
import java.lang.foreign.MemorySegment;

/** Convolution of bytes less their zero points, summed in i32; a unit is one row of the output. */
final class ConvIntegerStep extends LoopStep {
    private final ConvShape shape;
    private final boolean signedX;
    private final boolean signedW;
    private final DType zeroX;
    private final DType zeroW;
    private final int slotZeroX;
    private final int slotZeroW;
    private final boolean zeroPerChannel;
    private final int input;
    private final int weights;
    private final int output;

    ConvIntegerStep(ConvInteger op, ConvShape shape, Node node, LoweringContext context) {
        Windows3 windows = shape.windows();
        long rows = windows.outputArea() == 0
                ? 0
                : shape.planes() * windows.depth().output() * windows.height().output();
        super("direct", rows, windows.width().output() * Math.max(1, shape.depth()));
        this.shape = shape;
        this.zeroX = node.input(0).dtype();
        this.zeroW = node.input(1).dtype();
        this.signedX = zeroX == DType.I8;
        this.signedW = zeroW == DType.I8;
        this.slotZeroX = op.zeroPointX() ? context.slot(node.input(2)) : -1;
        this.slotZeroW = op.zeroPointW() ? context.slot(node.inputs().getLast()) : -1;
        this.zeroPerChannel = op.zeroPointW() && node.inputs().getLast().shape().elements() > 1;
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
        int minusX = slotZeroX < 0 ? 0 : (int) Elements.getLong(zeroX, frame.at(slotZeroX), 0);
        for (long row = from; row < to; row++) {
            int h = (int) (row % outH);
            int d = (int) (row / outH % outD);
            long plane = row / outH / outD;
            int channel = (int) (plane % allOut);
            long group = plane / allOut * shape.groups() + channel / shape.channelsOut();
            long x = group * shape.channelsIn() * windows.inputArea();
            int minusW = slotZeroW < 0
                    ? 0
                    : (int) Elements.getLong(zeroW, frame.at(slotZeroW), zeroPerChannel ? channel : 0);
            for (int w = 0; w < outW; w++) {
                int sum = sum(frame, x, minusX, channel * shape.depth(), minusW, d, h, w);
                frame.at(output).set(Raw.I32, (row * outW + w) * 4, sum);
            }
        }
    }

    private int sum(Frame frame, long x, int minusX, long filter, int minusW, int outD, int outH, int outW) {
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
        int maskX = signedX ? -1 : 0xFF;
        int maskW = signedW ? -1 : 0xFF;
        int sum = 0;
        for (int c = 0; c < shape.channelsIn(); c++) {
            for (int d = depth.firstCell(startD); d < lastD; d++) {
                for (int h = height.firstCell(startH); h < lastH; h++) {
                    long cell = filter + (((long) c * depth.kernel() + d) * height.kernel() + h) * width.kernel();
                    long line = x
                            + (((long) c * depth.input() + startD + (long) d * depth.dilation()) * height.input()
                                            + startH
                                            + (long) h * height.dilation())
                                    * width.input()
                            + startW;
                    for (int w = width.firstCell(startW); w < lastW; w++) {
                        int a = source.get(Raw.I8, line + (long) w * width.dilation()) & maskX;
                        int b = kernel.get(Raw.I8, cell + w) & maskW;
                        sum += (a - minusX) * (b - minusW);
                    }
                }
            }
        }
        return sum;
    }
}
