package dev.tenon.cpu.image;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.LoopStep;

/**
 * What an infinite extrapolation value becomes where the axes behind the last one that meets it mix it by weights of
 * both signs, or by 0: NaN, written over what another step gave. A unit is a line of the result.
 */
final class MixedExtrapolationStep extends LoopStep {
    private final CpuStep before;
    private final DType dtype;
    private final long[] sizes;
    /** Of each axis and index whether the value of the axes before stays, is mixed to NaN, or begins anew. */
    private final Effect[][] effects;

    private final int output;

    private enum Effect {
        KEEPS,
        MIXES,
        BEGINS
    }

    MixedExtrapolationStep(CpuStep before, Resize op, Node node, CpuLoweringContext context) {
        Shape from = node.input(0).shape();
        Shape to = node.output().shape();
        super(
                before.tier() + ", mixed extrapolation",
                to.elements() == 0 ? 0 : to.elements(0, to.rank() - 1),
                to.size(to.rank() - 1));
        this.before = before;
        this.dtype = node.output().dtype();
        this.sizes = to.sizes();
        this.effects = new Effect[to.rank()][];
        this.output = context.slot(node.output());
        for (int axis = 0; axis < effects.length; axis++) {
            AxisTaps taps = new AxisTaps(op.taps(axis, from.size(axis)));
            effects[axis] = new Effect[taps.size()];
            for (int i = 0; i < taps.size(); i++) {
                double sum = 0;
                for (int tap = taps.first(i); tap < taps.first(i) + taps.count(i); tap++) {
                    sum += taps.weight(tap) * Double.POSITIVE_INFINITY;
                }
                effects[axis][i] = taps.count(i) == 0 ? Effect.BEGINS : Double.isNaN(sum) ? Effect.MIXES : Effect.KEEPS;
            }
        }
    }

    @Override
    public long workspaceBytes() {
        return before.workspaceBytes();
    }

    @Override
    public void run(CpuFrame frame) {
        before.run(frame);
        super.run(frame);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        int last = sizes.length - 1;
        for (long line = from; line < to; line++) {
            long rest = line;
            boolean mixed = false;
            boolean begins = false;
            for (int axis = last - 1; axis >= 0 && !begins; axis--) {
                Effect effect = effects[axis][(int) (rest % sizes[axis])];
                rest /= sizes[axis];
                mixed |= effect == Effect.MIXES;
                begins = effect == Effect.BEGINS;
            }
            for (int i = 0; begins && i < sizes[last]; i++) {
                Effect effect = effects[last][i];
                if (effect == Effect.MIXES || (effect == Effect.KEEPS && mixed)) {
                    Elements.setDouble(dtype, frame.at(output), line * sizes[last] + i, Double.NaN);
                }
            }
        }
    }
}
