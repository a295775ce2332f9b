package dev.tenon.cpu.random;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.random.Philox;
import dev.tenon.core.ir.op.random.Sample;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** {@link Sample}: a unit is a row, whose weights stay in the workspace in double. */
public final class SampleStep extends LoopStep {
    private final DType dtype;
    private final long size;
    private final int[] inputs;
    private final int output;
    private final LargestWeights largest;

    private SampleStep(Node node, CpuLoweringContext context) {
        long size = node.input(0).shape().size(1);
        super("rows", node.input(0).shape().size(0), SizeMath.estimate(size, 16));
        this.dtype = node.input(0).dtype();
        this.size = size;
        this.inputs = node.inputs().stream().mapToInt(context::slot).toArray();
        this.output = context.slot(node.output());
        this.largest = new LargestWeights(SizeMath.toInt("sample", size));
    }

    public static CpuStep lower(Node node, CpuLoweringContext context) {
        return new SampleStep(node, context);
    }

    @Override
    public long workspaceBytes() {
        return largest.workspaceBytes();
    }

    private double real(CpuFrame frame, int input) {
        return Doubles.get(DType.F32, frame.at(inputs[input]), 0);
    }

    private long whole(CpuFrame frame, int input) {
        return Elements.getLong(DType.I64, frame.at(inputs[input]), 0);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        double temperature = real(frame, 1);
        long count = whole(frame, 2);
        double share = real(frame, 3);
        double least = real(frame, 4);
        if (!(temperature >= 0) || !(share >= 0) || !(least >= 0 && least <= 1) || count < 0) {
            throw new DataException("sample: temperature " + temperature + ", top k " + count + ", top p " + share
                    + ", min p " + least + "; expected 0 or more, and min p at most 1");
        }
        MemorySegment logits = frame.at(inputs[0]);
        MemorySegment weights = frame.workspace(worker);
        for (long row = from; row < to; row++) {
            long token = best(logits, row);
            if (temperature > 0) {
                weigh(logits, row, Doubles.get(dtype, logits, row * size + token), temperature, weights);
                if ((count > 0 && count < size) || share < 1) {
                    largest.keep(weights, count == 0 ? size : count, share);
                }
                double unit = Philox.unit(Philox.words(row, whole(frame, 6), whole(frame, 5))[0]);
                token = draw(weights, least, unit, token);
            }
            frame.at(output).set(Raw.I64, row * Long.BYTES, token);
        }
    }

    private long best(MemorySegment logits, long row) {
        long best = 0;
        double most = Double.NEGATIVE_INFINITY;
        for (long i = 0; i < size; i++) {
            double logit = Doubles.get(dtype, logits, row * size + i);
            if (Double.isNaN(logit)) {
                throw new DataException("sample: logit " + i + " of row " + row + " is NaN");
            }
            if (logit > most) {
                most = logit;
                best = i;
            }
        }
        return best;
    }

    private void weigh(MemorySegment logits, long row, double top, double temperature, MemorySegment weights) {
        for (long i = 0; i < size; i++) {
            double logit = Doubles.get(dtype, logits, row * size + i);
            // equal first: the difference of infinities is no number
            weights.set(Raw.F64, i * Double.BYTES, logit == top ? 1 : Math.exp((logit - top) / temperature));
        }
    }

    /** The first token at which the running sum of the weights that are large enough exceeds its part of their sum. */
    private long draw(MemorySegment weights, double least, double unit, long otherwise) {
        double sum = 0;
        for (long i = 0; i < size; i++) {
            double weight = weights.get(Raw.F64, i * Double.BYTES);
            sum += weight < least ? 0 : weight;
        }
        double target = unit * sum;
        double running = 0;
        long last = otherwise;
        for (long i = 0; i < size; i++) {
            double weight = weights.get(Raw.F64, i * Double.BYTES);
            if (weight > 0 && !(weight < least)) {
                running += weight;
                last = i;
                if (running > target) {
                    return i;
                }
            }
        }
        return last;
    }
}
