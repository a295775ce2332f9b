package dev.tenon.cpu.search;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;

/** Searches: elements that are not zero, different slices, boxes. */
public final class CpuSearchLowering {
    private CpuSearchLowering() {}

    public static CpuStep nonZero(Node node, CpuLoweringContext context) {
        return new NonZeroStep(node, context);
    }

    public static CpuStep lower(UniqueIndices op, Node node, CpuLoweringContext context) {
        Shape x = node.input(0).shape();
        boolean single = x.elements(0, op.axis()) == 1 && x.elements(op.axis() + 1, x.rank()) == 1;
        return single ? new UniqueKeysStep(op, node, context) : new UniqueSlicesStep(op, node, context);
    }

    public static CpuStep lower(BoxSelection op, Node node, CpuLoweringContext context) {
        return new BoxSelectionStep(op, node, context);
    }
}
