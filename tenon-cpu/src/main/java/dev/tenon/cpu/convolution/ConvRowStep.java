package dev.tenon.cpu.convolution;

import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.window.Windows3;

/** Convolution an element of the output at a time, whatever the types; a unit is one row of the output. */
abstract class ConvRowStep extends LoopStep {
    private final ConvShape shape;

    ConvRowStep(ConvShape shape) {
        Windows3 windows = shape.windows();
        long rows = windows.outputArea() == 0
                ? 0
                : shape.planes() * windows.depth().output() * windows.height().output();
        super("direct", rows, windows.width().output() * Math.max(1, shape.depth()));
        this.shape = shape;
    }

    /**
     * The sum of the products of {@code count} cells of the weights from {@code cell} on with elements of the input,
     * {@code step} apart.
     */
    abstract double line(CpuFrame frame, int channel, long cell, long element, int step, int count);

    /** Writes one element of the output. */
    abstract void store(CpuFrame frame, long index, int channel, double sum);

    @Override
    public final void run(CpuFrame frame, long from, long to, int worker) {
        Windows3 windows = shape.windows();
        int outH = windows.height().output();
        int outD = windows.depth().output();
        int outW = windows.width().output();
        int allOut = shape.groups() * shape.channelsOut();
        for (long row = from; row < to; row++) {
            int startH = windows.height().start((int) (row % outH));
            int startD = windows.depth().start((int) (row / outH % outD));
            long plane = row / outH / outD;
            int channel = (int) (plane % allOut);
            long group = plane / allOut * shape.groups() + channel / shape.channelsOut();
            long x = group * shape.channelsIn() * windows.inputArea();
            for (int w = 0; w < outW; w++) {
                int startW = windows.width().start(w);
                store(frame, row * outW + w, channel, sum(frame, channel, x, startD, startH, startW));
            }
        }
    }

    private double sum(CpuFrame frame, int channel, long x, int startD, int startH, int startW) {
        Windows3.Axis depth = shape.windows().depth();
        Windows3.Axis height = shape.windows().height();
        Windows3.Axis width = shape.windows().width();
        int firstD = depth.firstCell(startD);
        int lastD = depth.lastCell(startD, depth.input());
        int firstH = height.firstCell(startH);
        int lastH = height.lastCell(startH, height.input());
        int firstW = width.firstCell(startW);
        int count = width.lastCell(startW, width.input()) - firstW;
        double sum = 0;
        for (int c = 0; c < shape.channelsIn(); c++) {
            long filter = channel * shape.depth() + (long) c * shape.windows().cells();
            long plane = x + c * shape.windows().inputArea();
            for (int d = firstD; d < lastD; d++) {
                long slab = plane + (long) (startD + d * depth.dilation()) * height.input() * width.input();
                for (int h = firstH; h < lastH; h++) {
                    long cell = filter + ((long) d * height.kernel() + h) * width.kernel() + firstW;
                    long element = slab
                            + (long) (startH + h * height.dilation()) * width.input()
                            + startW
                            + (long) firstW * width.dilation();
                    sum += line(frame, channel, cell, element, width.dilation(), count);
                }
            }
        }
        return sum;
    }
}
