package dev.tenon.cpu.quantisation;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.cpu.step.LoweringContext;
import dev.tenon.cpu.step.Step;

/** Numbers to small integers and back. */
public final class QuantisationLowering {
    private QuantisationLowering() {}

    public static Step lower(Quantize op, Node node, LoweringContext context) {
        return new QuantizeStep(op, node, context);
    }

    public static Step lower(Dequantize op, Node node, LoweringContext context) {
        return new DequantizeStep(op, node, context);
    }

    public static Step lower(DynamicQuantize op, Node node, LoweringContext context) {
        return new DynamicQuantizeStep(node, context);
    }
}
