package dev.tenon.cpu.packed;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.contraction.BlockDecoder;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;

/** {@link DequantMatMul} of f64. */
final class WideBlocksStep extends WideRowStep {
    private final BlockFormat format;
    private final int weight;

    WideBlocksStep(DequantMatMul op, Node node, CpuLoweringContext context) {
        super("rows of " + op.format() + " written out in f64", node, context);
        this.format = op.format();
        this.weight = context.slot(node.input(1));
    }

    @Override
    void decode(CpuFrame frame, long row, double[] weights) {
        byte[] packed = new byte[format.bytes()];
        int each = format.elements();
        long blocks = depth / each;
        for (int block = 0; block < blocks; block++) {
            MemorySegment.copy(
                    frame.at(weight), Raw.I8, (row * blocks + block) * packed.length, packed, 0, packed.length);
            BlockDecoder.decode(format, packed, weights, block * each);
        }
    }
}
