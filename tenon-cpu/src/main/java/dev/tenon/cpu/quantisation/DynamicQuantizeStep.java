package dev.tenon.cpu.quantisation;

import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.ByteScale;
import dev.tenon.cpu.loops.QuantLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/** Finds the range of all elements, then quantises to it: two loops over chunks. */
final class DynamicQuantizeStep implements CpuStep, RangeTask {
    private static final int CHUNK = 4096;

    private final long count;
    private final QuantLoops loops = QuantLoops.current();
    private final RangeTask quantize = this::quantize;
    private final int input;
    private final int output;
    private final int scaleSlot;
    private final int zeroSlot;

    DynamicQuantizeStep(Node node, CpuLoweringContext context) {
        this.count = node.input(0).shape().elements();
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.outputs().get(0));
        this.scaleSlot = context.slot(node.outputs().get(1));
        this.zeroSlot = context.slot(node.outputs().get(2));
    }

    @Override
    public String tier() {
        return "range, then stretches, " + loops.tier();
    }

    /** A worker's smallest and largest element so far. */
    @Override
    public long workspaceBytes() {
        return 8;
    }

    @Override
    public void run(CpuFrame frame) {
        for (int worker = 0; worker < frame.threads(); worker++) {
            frame.workspace(worker).set(Raw.I64, 0, 0);
        }
        long chunks = Math.ceilDiv(count, CHUNK);
        frame.parallel(this, chunks, LoopStep.grain(CHUNK / 8));
        float min = 0;
        float max = 0;
        for (int worker = 0; worker < frame.threads(); worker++) {
            min = Math.min(min, frame.workspace(worker).get(Raw.F32, 0));
            max = Math.max(max, frame.workspace(worker).get(Raw.F32, 4));
        }
        float range = max - min;
        float scale = range == 0 ? 1 : range / 255;
        double zero = Math.rint(-min / scale);
        frame.at(scaleSlot).set(Raw.F32, 0, scale);
        frame.at(zeroSlot).set(Raw.I8, 0, (byte) (Double.isNaN(zero) ? 0 : (int) Math.clamp(zero, 0, 255)));
        frame.parallel(quantize, chunks, LoopStep.grain(CHUNK / 4));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment range = frame.workspace(worker);
        long end = Math.min(count, to * CHUNK);
        for (long i = from * CHUNK; i < end; i += CHUNK) {
            loops.range(source, i * 4, (int) Math.min(CHUNK, end - i), range, 0);
        }
    }

    private void quantize(CpuFrame frame, long from, long to, int worker) {
        float scale = frame.at(scaleSlot).get(Raw.F32, 0);
        float zero = frame.at(zeroSlot).get(Raw.I8, 0) & 0xFF;
        long first = from * CHUNK;
        long end = Math.min(count, to * CHUNK);
        ByteScale byteScale = new ByteScale(scale, zero, 0, 255);
        loops.quantize(frame.at(input), first * 4, byteScale, frame.at(output), first, end - first);
    }
}
