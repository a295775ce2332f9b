package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;

/** Convolution of bytes less their zero points. A sum is exact in f64 on its way to i32, to which it wraps. */
final class ConvIntegerStep extends ConvRowStep {
    private final DType typeX;
    private final DType typeW;
    private final int zeroX;
    private final int zeroW;
    private final boolean zeroPerChannel;
    private final int input;
    private final int weights;
    private final int output;

    ConvIntegerStep(ConvInteger op, ConvShape shape, Node node, CpuLoweringContext context) {
        super(shape);
        this.typeX = node.input(0).dtype();
        this.typeW = node.input(1).dtype();
        this.zeroX = op.zeroPointX() ? context.slot(node.input(2)) : -1;
        this.zeroW = op.zeroPointW() ? context.slot(node.inputs().getLast()) : -1;
        this.zeroPerChannel = op.zeroPointW() && node.inputs().getLast().shape().elements() > 1;
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    double line(CpuFrame frame, int channel, long cell, long element, int step, int count) {
        MemorySegment source = frame.at(input);
        MemorySegment filters = frame.at(weights);
        long minusX = zeroX < 0 ? 0 : Elements.getLong(typeX, frame.at(zeroX), 0);
        long minusW = zeroW < 0 ? 0 : Elements.getLong(typeW, frame.at(zeroW), zeroPerChannel ? channel : 0);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += (Elements.getLong(typeX, source, element + (long) i * step) - minusX)
                    * (Elements.getLong(typeW, filters, cell + i) - minusW);
        }
        return sum;
    }

    @Override
    void store(CpuFrame frame, long index, int channel, double sum) {
        frame.at(output).set(Raw.I32, index * 4, (int) (long) sum);
    }
}
