package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.window.WindowsN;

/**
 * Convolutions over any number of dims, forwards or transposed: a unit is a position of the output's planes, whose
 * cells are found once for all of them.
 */
abstract class ConvPositionStep extends LoopStep {
    private final WindowsN windows;
    private final boolean transposed;
    private final long batch;
    private final long groups;
    private final long channelsIn;
    private final long channelsOut;
    private final long areaIn;
    private final long areaOut;

    ConvPositionStep(WindowsN windows, boolean transposed, long groups, Node node) {
        Shape x = node.input(0).shape();
        Shape y = node.output().shape();
        super(
                "positions over " + (y.rank() - 2) + " dims",
                y.elements(2, y.rank()),
                SizeMath.estimate(Math.max(1, y.elements(0, 2)), Math.max(1, x.size(1) / groups), windows.cells()));
        this.windows = windows;
        this.transposed = transposed;
        this.batch = x.size(0);
        this.groups = groups;
        this.channelsIn = x.size(1) / groups;
        this.channelsOut = y.size(1) / groups;
        this.areaIn = x.elements(2, x.rank());
        this.areaOut = y.elements(2, y.rank());
    }

    /** The product of an element of the input and one of the weights. */
    abstract double product(CpuFrame frame, int channel, long element, long weight);

    /** Writes one element of the output. */
    abstract void store(CpuFrame frame, long index, int channel, double sum);

    @Override
    public final void run(CpuFrame frame, long from, long to, int worker) {
        WindowsN.Places places = windows.new Places();
        for (long position = from; position < to; position++) {
            if (transposed) {
                places.ofElement(position);
            } else {
                places.ofWindow(position);
            }
            for (long image = 0; image < batch; image++) {
                for (long channel = 0; channel < groups * channelsOut; channel++) {
                    double sum = sum(frame, image, channel, places);
                    long index = (image * groups * channelsOut + channel) * areaOut + position;
                    store(frame, index, (int) channel, sum);
                }
            }
        }
    }

    private double sum(CpuFrame frame, long image, long channel, WindowsN.Places places) {
        long group = channel / channelsOut;
        double sum = 0;
        for (long c = group * channelsIn; c < (group + 1) * channelsIn; c++) {
            long plane = (image * groups * channelsIn + c) * areaIn;
            long filter = transposed ? c * channelsOut + channel % channelsOut : channel * channelsIn + c % channelsIn;
            for (int i = 0; i < places.count; i++) {
                long weight = filter * windows.cells() + places.cells[i];
                sum += product(frame, (int) channel, plane + places.elements[i], weight);
            }
        }
        return sum;
    }
}
