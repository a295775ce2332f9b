package dev.tenon.cpu.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Divides by a power of the sum of squares over neighbouring channels; a channel of a sample a piece, sums in double.
 */
final class LocalResponseNormStep implements CpuStep, RangeTask {
    private static final int BLOCK = 512;

    private final LocalResponseNorm op;
    private final DType dtype;
    private final long samples;
    private final long channels;
    private final long inner;
    private final int input;
    private final int output;

    LocalResponseNormStep(
            LocalResponseNorm op, DType dtype, long samples, long channels, long inner, int input, int output) {
        this.op = op;
        this.dtype = dtype;
        this.samples = samples;
        this.channels = channels;
        this.inner = inner;
        this.input = input;
        this.output = output;
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(this, samples * channels, Math.max(1, 1024 / Math.max(1, inner)));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment sums = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            long channel = unit % channels;
            long sample = unit - channel;
            long first = Math.max(0, channel - (op.size() - 1) / 2);
            long last = Math.min(channels - 1, channel + op.size() / 2);
            for (long at = 0; at < inner; at += BLOCK) {
                int n = (int) Math.min(BLOCK, inner - at);
                sums.asSlice(0, 8L * n).fill((byte) 0);
                for (long c = first; c <= last; c++) {
                    addSquares(x, (sample + c) * inner + at, sums, n);
                }
                for (int i = 0; i < n; i++) {
                    long element = unit * inner + at + i;
                    double squares = sums.get(Convert.F64, 8L * i);
                    double divisor = Math.pow(op.bias() + op.alpha() / op.size() * squares, op.beta());
                    Elements.setDouble(dtype, y, element, Elements.getDouble(dtype, x, element) / divisor);
                }
            }
        }
    }

    private void addSquares(MemorySegment x, long from, MemorySegment sums, int n) {
        for (int i = 0; i < n; i++) {
            double value = Elements.getDouble(dtype, x, from + i);
            sums.set(Convert.F64, 8L * i, sums.get(Convert.F64, 8L * i) + value * value);
        }
    }

    @Override
    public String tier() {
        return "loops";
    }

    @Override
    public long workspaceBytes() {
        return 8L * BLOCK;
    }
}
