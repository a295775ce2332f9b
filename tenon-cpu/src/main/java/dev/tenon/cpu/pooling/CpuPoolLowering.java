package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.window.PaddedPlane;
import dev.tenon.cpu.window.Windows3;
import dev.tenon.cpu.window.WindowsN;

/** Reductions over sliding windows, and over regions. */
public final class CpuPoolLowering {
    private CpuPoolLowering() {}

    public static CpuStep lower(Pool op, Node node, CpuLoweringContext context) {
        if (op.strides().size() > Windows3.MOST_AXES) {
            WindowsN windows = new WindowsN(
                    node,
                    node.input(0).shape(),
                    node.outputs().getFirst().shape(),
                    op.kernel(),
                    op.strides(),
                    op.padsBefore(),
                    op.padsAfter(),
                    op.dilations());
            return PoolPositionStep.of(op, windows, node, context);
        }
        Windows3 windows = Windows3.of(
                node,
                node.input(0).shape(),
                node.output().shape(),
                op.kernel(),
                op.strides(),
                op.padsBefore(),
                op.padsAfter(),
                op.dilations());
        if (windows.width().isPointwise() && windows.width().output() == 1) {
            windows = windows.acrossLast();
        }
        boolean f32 = node.input(0).dtype() == DType.F32;
        if (f32 && ChannelPoolStep.suits(op, windows)) {
            return new ChannelPoolStep(op, windows, node, context);
        }
        boolean planes = f32 && PaddedPlane.suits(windows);
        if (op.fn() == PoolFn.MAX && !f32) {
            return new MaxPoolStep(windows, false, node, context);
        }
        if (op.fn() == PoolFn.MAX) {
            return planes ? new MaxPoolPlaneStep(windows, node, context) : new MaxPoolF32Step(windows, node, context);
        }
        if (op.fn() == PoolFn.AVERAGE && f32 && windows.width().output() > 1) {
            return planes
                    ? new AveragePoolPlaneStep(windows, op.countPadding(), node, context)
                    : new AveragePoolF32Step(windows, op.countPadding(), node, context);
        }
        return new SumPoolStep(op, windows, node, context);
    }

    public static CpuStep lower(MaxPoolIndices op, Node node, CpuLoweringContext context) {
        if (op.strides().size() > Windows3.MOST_AXES) {
            WindowsN windows = new WindowsN(
                    node,
                    node.input(0).shape(),
                    node.outputs().getFirst().shape(),
                    op.kernel(),
                    op.strides(),
                    op.padsBefore(),
                    op.padsAfter(),
                    op.dilations());
            return PoolPositionStep.ofIndices(op.columnMajor(), windows, node, context);
        }
        Windows3 windows = Windows3.of(
                node,
                node.input(0).shape(),
                node.output().shape(),
                op.kernel(),
                op.strides(),
                op.padsBefore(),
                op.padsAfter(),
                op.dilations());
        return new MaxPoolStep(windows, op.columnMajor(), node, context);
    }

    public static CpuStep lower(RoiAlign op, Node node, CpuLoweringContext context) {
        return new RoiAlignStep(op, node, context);
    }

    public static CpuStep lower(MaxRoiPool op, Node node, CpuLoweringContext context) {
        return new MaxRoiPoolStep(op, node, context);
    }
}
