package dev.tenon.cpu.quantisation;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;

/** Numbers to small integers and back. */
public final class CpuQuantisationLowering {
    private CpuQuantisationLowering() {}

    public static CpuStep lower(Quantize op, Node node, CpuLoweringContext context) {
        return new QuantizeStep(op, node, context);
    }

    public static CpuStep lower(Dequantize op, Node node, CpuLoweringContext context) {
        return new DequantizeStep(op, node, context);
    }

    public static CpuStep lower(DynamicQuantize op, Node node, CpuLoweringContext context) {
        return new DynamicQuantizeStep(node, context);
    }
}
