package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.WindowsN;

/** {@link ConvPositionStep} of bytes less their zero points. */
final class IntegerPositionStep extends ConvPositionStep {
    private final IntegerTerms terms;

    IntegerPositionStep(ConvInteger op, WindowsN windows, Node node, CpuLoweringContext context) {
        super(windows, false, op.groups(), node);
        this.terms = new IntegerTerms(op, node, context);
    }

    @Override
    double product(CpuFrame frame, int channel, long element, long weight) {
        return (double) ((terms.x(frame, element) - terms.minusX(frame))
                * (terms.w(frame, weight) - terms.minusW(frame, channel)));
    }

    @Override
    void store(CpuFrame frame, long index, int channel, double sum) {
        terms.store(frame, index, sum);
    }
}
