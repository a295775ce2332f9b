package dev.tenon.cpu.attention;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Attention by single rows in double, of any float type: the step for f64, and what {@link AttentionStep} falls back to
 * for a row whose result met a NaN or infinity among values that it does not see.
 *
 * @param maskWalk how the mask is read as [batch, head, query, key]
 */
record AttentionRows(
        Attention op,
        DType dtype,
        long batches,
        long heads,
        long groups,
        long queries,
        long keys,
        int size,
        int sizeV,
        @Nullable Broadcast maskWalk,
        int q,
        int k,
        int v,
        int mask,
        int y)
        implements CpuStep, RangeTask {
    /** The first key that a query sees. */
    long firstKey(long query) {
        long position = query + keys - queries;
        return op.window() == 0 ? 0 : Math.clamp(position - op.window() + 1, 0, keys);
    }

    /** One past the last key that a query sees. */
    long endKey(long query) {
        return op.causal() ? Math.clamp(query + keys - queries + 1, 0, keys) : keys;
    }

    /** The key head, among all batches', that a query head (among all batches') reads. */
    long keyHead(long head) {
        return head / heads * groups + head % heads / (heads / groups);
    }

    double factor() {
        return op.scaleFor(size);
    }

    @Override
    public void run(CpuFrame frame) {
        long perRow = Math.max(1, keys * (size + sizeV));
        frame.parallel(this, batches * heads * queries, Math.max(1, 32_768 / perRow));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        for (long row = from; row < to; row++) {
            row(frame, row, frame.workspace(worker), 0);
        }
    }

    /** One row, with 8 bytes of workspace a key from that offset on. */
    void row(CpuFrame frame, long row, MemorySegment workspace, long offset) {
        MemorySegment maskMemory = mask < 0 ? MemorySegment.NULL : frame.at(mask);
        long query = row % queries;
        long keyHead = keyHead(row / queries);
        long first = firstKey(query);
        long end = endKey(query);
        double max = Double.NEGATIVE_INFINITY;
        for (long j = first; j < end; j++) {
            double score = score(frame, maskMemory, row, keyHead, j);
            workspace.set(Convert.F64, offset + 8 * j, score);
            max = Math.max(max, score);
        }
        double total = 0;
        for (long j = first; j < end; j++) {
            double weight = Math.exp(workspace.get(Convert.F64, offset + 8 * j) - max);
            workspace.set(Convert.F64, offset + 8 * j, max == Double.NEGATIVE_INFINITY ? 0 : weight);
            total += weight;
        }
        MemorySegment values = frame.at(v);
        for (int i = 0; i < sizeV; i++) {
            double sum = 0;
            for (long j = first; j < end; j++) {
                double weight = workspace.get(Convert.F64, offset + 8 * j);
                // not 0 times a value that the row does not see, which may be NaN
                sum += weight == 0 ? 0 : weight * Elements.getDouble(dtype, values, (keyHead * keys + j) * sizeV + i);
            }
            double result = max == Double.NEGATIVE_INFINITY ? 0 : sum / total;
            Elements.setDouble(dtype, frame.at(y), row * sizeV + i, result);
        }
    }

    private double score(CpuFrame frame, MemorySegment maskMemory, long row, long keyHead, long key) {
        long at = maskWalk == null ? 0 : maskWalk.at(0, row * keys + key);
        if (op.mask() == AttentionMask.BOOLEAN && Elements.getLong(DType.BOOL, maskMemory, at) == 0) {
            return Double.NEGATIVE_INFINITY;
        }
        MemorySegment a = frame.at(q);
        MemorySegment b = frame.at(k);
        double sum = 0;
        for (int i = 0; i < size; i++) {
            sum += Elements.getDouble(dtype, a, row * size + i)
                    * Elements.getDouble(dtype, b, (keyHead * keys + key) * size + i);
        }
        double score = sum * factor();
        if (op.softCap() > 0) {
            score = op.softCap() * Math.tanh(score / op.softCap());
        }
        return op.mask() == AttentionMask.ADDITIVE ? score + Elements.getDouble(dtype, maskMemory, at) : score;
    }

    @Override
    public String tier() {
        return "f64 rows";
    }

    @Override
    public long workspaceBytes() {
        return 8 * Math.max(1, keys);
    }
}
