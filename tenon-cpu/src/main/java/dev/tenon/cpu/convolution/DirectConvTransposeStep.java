package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/**
 * Transposed convolution of any float type, summed in f64: each element of the output looks for the inputs whose
 * windows have it; a unit is one row of the output.
 */
final class DirectConvTransposeStep extends LoopStep {
    private final ConvShape shape;
    private final ConvEpilogue epilogue;
    private final DType dtype;
    private final int input;
    private final int weights;
    private final int output;

    DirectConvTransposeStep(ConvShape shape, ConvEpilogue epilogue, Node node, CpuLoweringContext context) {
        Windows3 windows = shape.windows();
        long rows = windows.inputArea() == 0
                ? 0
                : shape.planes() * windows.depth().input() * windows.height().input();
        super("direct", rows, windows.width().input() * Math.max(1, shape.depth()));
        this.shape = shape;
        this.epilogue = epilogue;
        this.dtype = node.output().dtype();
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Windows3 windows = shape.windows();
        int height = windows.height().input();
        int depth = windows.depth().input();
        int width = windows.width().input();
        int allOut = shape.groups() * shape.channelsOut();
        for (long row = from; row < to; row++) {
            int h = (int) (row % height);
            int d = (int) (row / height % depth);
            long plane = row / height / depth;
            int channel = (int) (plane % allOut);
            for (int w = 0; w < width; w++) {
                double sum = sum(frame, plane / allOut, channel, d, h, w);
                epilogue.store(frame, frame.at(output), row * width + w, channel, sum);
            }
        }
    }

    private double sum(CpuFrame frame, long batch, int channel, int atD, int atH, int atW) {
        Windows3.Axis depth = shape.windows().depth();
        Windows3.Axis height = shape.windows().height();
        Windows3.Axis width = shape.windows().width();
        int group = channel / shape.channelsOut();
        int first = group * shape.channelsIn();
        MemorySegment source = frame.at(input);
        MemorySegment kernel = frame.at(weights);
        double sum = 0;
        for (int d = 0; d < depth.kernel(); d++) {
            int fromD = position(depth, atD, d);
            for (int h = 0; fromD >= 0 && h < height.kernel(); h++) {
                int fromH = position(height, atH, h);
                for (int w = 0; fromH >= 0 && w < width.kernel(); w++) {
                    int fromW = position(width, atW, w);
                    if (fromW < 0) {
                        continue;
                    }
                    long cell = ((long) d * height.kernel() + h) * width.kernel() + w;
                    long at = ((long) fromD * height.output() + fromH) * width.output() + fromW;
                    for (int c = first; c < first + shape.channelsIn(); c++) {
                        long plane = batch * shape.groups() * shape.channelsIn() + c;
                        long filter = (long) c * shape.channelsOut() + channel % shape.channelsOut();
                        sum += Elements.getDouble(
                                        dtype, source, plane * shape.windows().outputArea() + at)
                                * Elements.getDouble(
                                        dtype, kernel, filter * shape.windows().cells() + cell);
                    }
                }
            }
        }
        return sum;
    }

    /** Which window has its cell at a place; -1 for none. */
    private static int position(Windows3.Axis axis, int place, int cell) {
        int offset = place + axis.before() - cell * axis.dilation();
        int position = offset / axis.stride();
        return offset >= 0 && offset % axis.stride() == 0 && position < axis.output() ? position : -1;
    }
}
