package dev.tenon.cpu.quantisation;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.cpu.loops.ByteScale;
import dev.tenon.cpu.loops.QuantLoops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * saturate(round(x / scale) + zero point), in stretches of one scale; a unit is a chunk of elements that fills whole
 * bytes.
 */
final class QuantizeStep extends LoopStep {
    private static final long CHUNK = 2048;

    private final DType from;
    private final DType scaleType;
    private final DType to;
    private final boolean bytes;
    private final long count;
    private final double least;
    private final double largest;
    private final ScaleMap scaleMap;
    private final ScaleMap zeroMap;
    private final QuantLoops loops = QuantLoops.current();
    private final int input;
    private final int scales;
    private final int zeros;
    private final int output;

    QuantizeStep(Quantize op, Node node, CpuLoweringContext context) {
        DType from = node.input(0).dtype();
        boolean bytes = from == DType.F32 && (op.to() == DType.U8 || op.to() == DType.I8);
        super(
                bytes ? "stretches, " + QuantLoops.current().tier() : "stretches",
                Math.ceilDiv(node.output().shape().elements(), CHUNK),
                bytes ? CHUNK / 4 : CHUNK * 4);
        this.from = from;
        this.scaleType = node.input(1).dtype();
        this.to = op.to();
        this.bytes = bytes;
        this.count = node.output().shape().elements();
        this.largest = to == DType.F8E4M3 ? 448 : to == DType.F8E5M2 ? 57344 : (double) Elements.max(to);
        this.least = to.isFloat() ? -largest : (double) Elements.min(to);
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
            double scale = Elements.getDouble(scaleType, frame.at(scales), scaleMap.at(i));
            double zero = zeros < 0 ? 0 : Elements.getDouble(to, frame.at(zeros), zeroMap.at(i));
            if (bytes) {
                ByteScale byteScale = new ByteScale((float) scale, (float) zero, (float) least, (float) largest);
                loops.quantize(source, i * 4, byteScale, target, i, end - i);
                i = end;
            }
            for (; i < end; i++) {
                Elements.setDouble(to, target, i, quantized(Elements.getDouble(from, source, i), scale, zero));
            }
        }
    }

    private double quantized(double x, double scale, double zero) {
        double quotient = scaleType == DType.F64 ? x / scale : (float) (x / scale);
        double value = (to.isFloat() ? quotient : Math.rint(quotient)) + zero;
        return Double.isNaN(value) ? value : Math.clamp(value, least, largest);
    }
}
