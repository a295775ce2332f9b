package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;

/** Convolution of any float type, summed in f64. */
final class DirectConvStep extends ConvRowStep {
    private final ConvEpilogue epilogue;
    private final DType dtype;
    private final int input;
    private final int weights;
    private final int output;

    DirectConvStep(ConvShape shape, ConvEpilogue epilogue, Node node, CpuLoweringContext context) {
        super(shape);
        this.epilogue = epilogue;
        this.dtype = node.output().dtype();
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    double line(CpuFrame frame, int channel, long cell, long element, int step, int count) {
        MemorySegment source = frame.at(input);
        MemorySegment filters = frame.at(weights);
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += Elements.getDouble(dtype, filters, cell + i)
                    * Elements.getDouble(dtype, source, element + (long) i * step);
        }
        return sum;
    }

    @Override
    void store(CpuFrame frame, long index, int channel, double sum) {
        epilogue.store(frame, frame.at(output), index, channel, sum);
    }
}
