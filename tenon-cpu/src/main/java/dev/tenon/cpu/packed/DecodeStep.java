package dev.tenon.cpu.packed;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.LoopStep;

/** Writes packed blocks out in a float type; a unit is a block. */
public final class DecodeStep extends LoopStep {
    private final DecodeBlocks op;
    private final DType dtype;
    private final int input;
    private final int output;

    private DecodeStep(DecodeBlocks op, Node node, CpuLoweringContext context) {
        super(
                "blocks of " + op.format(),
                node.input(0).shape().elements() / op.format().bytes(),
                SizeMath.product("decode", 8, op.format().elements()));
        this.op = op;
        this.dtype = op.dtype();
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    public static CpuStep lower(DecodeBlocks op, Node node, CpuLoweringContext context) {
        return new DecodeStep(op, node, context);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        DecodedBlocks blocks = new DecodedBlocks(op.format());
        int each = op.format().elements();
        for (long unit = from; unit < to; unit++) {
            blocks.write(frame.at(input), unit, 1, dtype, frame.at(output), unit * each);
        }
    }
}
