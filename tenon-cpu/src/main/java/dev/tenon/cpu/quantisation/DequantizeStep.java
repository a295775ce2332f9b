package dev.tenon.cpu.quantisation;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.cpu.loops.QuantLoops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** (x - zero point) scale, in stretches of one scale. */
final class DequantizeStep extends LoopStep {
    private static final long CHUNK = 2048;

    private final DType from;
    private final DType to;
    private final boolean bytes;
    private final long count;
    private final ScaleMap scaleMap;
    private final ScaleMap zeroMap;
    private final QuantLoops loops = QuantLoops.current();
    private final int input;
    private final int scales;
    private final int zeros;
    private final int output;

    DequantizeStep(Dequantize op, Node node, CpuLoweringContext context) {
        DType from = node.input(0).dtype();
        boolean bytes = node.output().dtype() == DType.F32 && (from == DType.U8 || from == DType.I8);
        super(
                bytes ? "stretches, " + QuantLoops.current().tier() : "stretches",
                Math.ceilDiv(node.output().shape().elements(), CHUNK),
                bytes ? CHUNK / 4 : CHUNK * 4);
        this.from = from;
        this.to = node.output().dtype();
        this.bytes = bytes;
        this.count = node.output().shape().elements();
        this.scaleMap = ScaleMap.of(node, 1, op.axis(), op.block());
        this.zeroMap = ScaleMap.of(node, 2, op.axis(), op.block());
        this.input = context.slot(node.input(0));
        this.scales = context.slot(node.input(1));
        this.zeros = op.zeroPoint() ? context.slot(node.input(2)) : -1;
        this.output = context.slot(node.output());
    }

    @Override
    public void run(CpuFrame frame, long first, long last, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        long limit = Math.min(count, last * CHUNK);
        for (long i = first * CHUNK; i < limit; ) {
            long end = zeroMap.end(i, scaleMap.end(i, limit));
            double scale = Elements.getDouble(to, frame.at(scales), scaleMap.at(i));
            double zero = zeros < 0 ? 0 : Elements.getDouble(from, frame.at(zeros), zeroMap.at(i));
            if (bytes) {
                loops.dequantize(source, i, from == DType.I8, (float) scale, (float) zero, target, i * 4, end - i);
                i = end;
            }
            for (; i < end; i++) {
                Elements.setDouble(to, target, i, (Elements.getDouble(from, source, i) - zero) * scale);
            }
        }
    }
}
