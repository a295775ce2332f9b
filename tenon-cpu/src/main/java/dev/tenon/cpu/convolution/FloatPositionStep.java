package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.window.WindowsN;

/** {@link ConvPositionStep} of floats, summed in double. */
final class FloatPositionStep extends ConvPositionStep {
    private final DType dtype;
    private final ConvEpilogue epilogue;
    private final int input;
    private final int weights;
    private final int output;

    FloatPositionStep(
            WindowsN windows,
            boolean transposed,
            long groups,
            ConvEpilogue epilogue,
            Node node,
            CpuLoweringContext context) {
        super(windows, transposed, groups, node);
        this.dtype = node.output().dtype();
        this.epilogue = epilogue;
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    double product(CpuFrame frame, int channel, long element, long weight) {
        return Doubles.get(dtype, frame.at(input), element) * Doubles.get(dtype, frame.at(weights), weight);
    }

    @Override
    void store(CpuFrame frame, long index, int channel, double sum) {
        epilogue.store(frame, frame.at(output), index, channel, sum);
    }
}
