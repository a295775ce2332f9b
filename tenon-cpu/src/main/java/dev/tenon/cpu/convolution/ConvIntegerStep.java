package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;

/** Convolution of bytes less their zero points. A sum is exact in f64 on its way to i32, to which it wraps. */
final class ConvIntegerStep extends ConvRowStep {
    private final IntegerTerms terms;

    ConvIntegerStep(ConvInteger op, ConvShape shape, Node node, CpuLoweringContext context) {
        super(shape);
        this.terms = new IntegerTerms(op, node, context);
    }

    @Override
    double line(CpuFrame frame, int channel, long cell, long element, int step, int count) {
        long minusX = terms.minusX(frame);
        long minusW = terms.minusW(frame, channel);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += (terms.x(frame, element + (long) i * step) - minusX) * (terms.w(frame, cell + i) - minusW);
        }
        return sum;
    }

    @Override
    void store(CpuFrame frame, long index, int channel, double sum) {
        terms.store(frame, index, sum);
    }
}
