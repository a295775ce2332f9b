package dev.tenon.cpu.packed;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Doubles;
import java.lang.foreign.MemorySegment;

/** {@link ScaledMatMul} of f64 and short floats. */
final class WideScaledStep extends WideRowStep {
    private final DType type;
    private final DType scaleType;
    private final long block;
    private final long blocks;
    private final int weight;
    private final int scale;
    private final int zero;

    WideScaledStep(ScaledMatMul op, Node node, CpuLoweringContext context) {
        super("weights of " + node.input(1).dtype() + " decoded by rows in f64", node, context);
        this.type = node.input(1).dtype();
        this.scaleType = node.input(2).dtype();
        this.block = op.block() == 0 ? Math.max(1, depth) : op.block();
        this.blocks = op.blocks(depth);
        this.weight = context.slot(node.input(1));
        this.scale = context.slot(node.input(2));
        this.zero = op.zeroPoint() ? context.slot(node.input(3)) : -1;
    }

    @Override
    void decode(CpuFrame frame, long row, double[] weights) {
        MemorySegment q = frame.at(weight);
        for (long one = 0; one < blocks; one++) {
            double factor = Doubles.get(scaleType, frame.at(scale), row * blocks + one);
            long minus = zero < 0 ? 0 : Elements.getLong(type, frame.at(zero), row * blocks + one);
            int end = (int) Math.min(depth, (one + 1) * block);
            for (int k = (int) (one * block); k < end; k++) {
                weights[k] = factor * (Elements.getLong(type, q, row * depth + k) - minus);
            }
        }
    }
}
