package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.ArrayList;
import java.util.List;

/** Elementwise operations, single or fused: all become a list of {@link TileOp}s. */
public final class CpuElementwiseLowering {
    private CpuElementwiseLowering() {}

    public static CpuStep lower(Node node, CpuLoweringContext context) {
        ElementwiseForm form = ElementwiseForm.of(node, context);
        List<Shape> shapes = new ArrayList<>(node.inputs().size());
        for (Value input : node.inputs()) {
            shapes.add(input.shape());
        }
        Broadcast broadcast = Broadcast.of(node.output().shape(), shapes);
        int[] operands = slots(node.inputs(), context);
        int[] outputs = slots(node.outputs(), context);
        CpuElementwiseStep tiles = new CpuElementwiseStep(
                new TileProgram(form.types(), operands.length, form.instructions(), form.results(), broadcast),
                operands,
                outputs,
                node.output().shape().elements());
        return RegionStep.of(form, broadcast, tiles, node, operands, outputs);
    }

    private static int[] slots(List<Value> values, CpuLoweringContext context) {
        int[] slots = new int[values.size()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = context.slot(values.get(i));
        }
        return slots;
    }
}
