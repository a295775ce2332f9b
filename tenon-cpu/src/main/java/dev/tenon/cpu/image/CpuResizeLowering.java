package dev.tenon.cpu.image;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.image.ResizeTaps;
import dev.tenon.cpu.movement.MappedCopy;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;

/** Resampling: nearest neighbours are a mapped copy, the other modes weighted sums. */
public final class CpuResizeLowering {
    private CpuResizeLowering() {}

    public static CpuStep lower(Resize op, Node node, CpuLoweringContext context) {
        Shape from = node.input(0).shape();
        Shape to = node.output().shape();
        AxisTaps[] taps = new AxisTaps[to.rank()];
        for (int axis = 0; axis < taps.length; axis++) {
            ResizeTaps source = op.taps(axis, from.size(axis));
            AxisTaps table = new AxisTaps(source);
            boolean same = from.size(axis) == to.size(axis) && table.isIdentity();
            taps[axis] = same ? null : table;
        }
        if (op.mode() == ResizeMode.CUBIC && Double.isInfinite(op.extrapolation()) && taps.length > 0) {
            return new MixedExtrapolationStep(new ResizeStep(op, taps, node, context), op, node, context);
        }
        if (op.mode() != ResizeMode.NEAREST) {
            return node.output().dtype() == DType.F32
                    ? new ResizeF32Step(op, taps, node, context)
                    : new ResizeStep(op, taps, node, context);
        }
        int[][] maps = new int[taps.length][];
        for (int axis = 0; axis < maps.length; axis++) {
            AxisTaps table = taps[axis];
            if (table != null) {
                maps[axis] = MappedCopy.map(
                        to.size(axis),
                        index -> table.count((int) index) == 0
                                ? MappedCopy.FILL
                                : table.index(table.first((int) index)));
            }
        }
        DType dtype = node.output().dtype();
        return MappedCopy.of(
                dtype,
                from.sizes(),
                to.sizes(),
                maps,
                MappedCopy.Fill.of(Elements.fromDouble(dtype, op.extrapolation())),
                context.slot(node.input(0)),
                context.slot(node.output()));
    }
}
