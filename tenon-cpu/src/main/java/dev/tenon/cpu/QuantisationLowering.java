package dev.tenon.cpu;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.Dequantize;
import dev.tenon.core.ir.op.DynamicQuantize;
import dev.tenon.core.ir.op.Quantize;

/** Numbers to small integers and back. */
final class QuantisationLowering {
    private QuantisationLowering() {}

    static Step lower(Quantize op, Node node, LoweringContext context) {
        return new QuantizeStep(op, node, context);
    }

    static Step lower(Dequantize op, Node node, LoweringContext context) {
        return new DequantizeStep(op, node, context);
    }

    static Step lower(DynamicQuantize op, Node node, LoweringContext context) {
        return new DynamicQuantizeStep(node, context);
    }
}
