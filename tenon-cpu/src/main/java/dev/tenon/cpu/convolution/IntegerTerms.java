package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;

/** What a convolution of bytes sums: products of operands less their zero points. */
final class IntegerTerms {
    private final DType typeX;
    private final DType typeW;
    private final int zeroX;
    private final int zeroW;
    private final boolean zeroPerChannel;
    private final int input;
    private final int weights;
    private final int output;

    IntegerTerms(ConvInteger op, Node node, CpuLoweringContext context) {
        this.typeX = node.input(0).dtype();
        this.typeW = node.input(1).dtype();
        this.zeroX = op.zeroPointX() ? context.slot(node.input(2)) : -1;
        this.zeroW = op.zeroPointW() ? context.slot(node.inputs().getLast()) : -1;
        this.zeroPerChannel = op.zeroPointW() && node.inputs().getLast().shape().elements() > 1;
        this.input = context.slot(node.input(0));
        this.weights = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    long minusX(CpuFrame frame) {
        return zeroX < 0 ? 0 : Elements.getLong(typeX, frame.at(zeroX), 0);
    }

    long minusW(CpuFrame frame, int channel) {
        return zeroW < 0 ? 0 : Elements.getLong(typeW, frame.at(zeroW), zeroPerChannel ? channel : 0);
    }

    long x(CpuFrame frame, long element) {
        return Elements.getLong(typeX, frame.at(input), element);
    }

    long w(CpuFrame frame, long element) {
        return Elements.getLong(typeW, frame.at(weights), element);
    }

    void store(CpuFrame frame, long index, double sum) {
        frame.at(output).set(Raw.I32, index * Integer.BYTES, (int) (long) sum);
    }
}
