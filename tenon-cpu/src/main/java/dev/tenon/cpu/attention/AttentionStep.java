package dev.tenon.cpu.attention;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.FloatRows;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Attention of f32 and short floats with online softmax (Milakov and Gimelshein, 2018; Dao et al., 2022): keys in
 * blocks of {@link #KEYS}, which are packed once for up to {@link #QUERIES} queries of a head; the largest score and
 * the sum of weights so far are kept for each row, and the row is rescaled when a larger score comes.
 *
 * <p>A piece of work is a head's block of queries. With few queries (decoding) packing would cost more than it saves,
 * and keys and values are read as they lie.
 */
final class AttentionStep implements CpuStep, RangeTask {
    /**
     * Keys a block: scores of 32 rows are 128 KiB, and with 64 elements a head the packed keys and values 256 KiB each.
     */
    private static final int KEYS = 1024;

    private static final int QUERIES = 256;
    /** Rows of scores at a time. */
    private static final int ROWS = 32;
    /** Fewer queries than that read keys unpacked. */
    private static final int FEW = 4;

    private static final float NONE = Float.NEGATIVE_INFINITY;

    private final AttentionRows rows;
    private final DType dtype;
    private final boolean few;
    private final int block;
    private final long blocksPerHead;
    private final int keyBlock;
    private final Unary cap;
    private final long edgeAt = 0;
    private final long qAt;
    private final long keysAt;
    private final long valuesAt;
    private final long rawAt;
    private final long scoresAt;
    private final long sumsAt;
    private final long maxAt;
    private final long totalAt;
    private final long maskAt;
    private final long slowAt;
    private final long workspaceBytes;

    AttentionStep(AttentionRows rows, int threads) {
        this.rows = rows;
        this.dtype = rows.dtype();
        this.few = rows.queries() < FEW;
        long heads = rows.batches() * rows.heads();
        int wanted = QUERIES;
        while (wanted > ROWS && heads * Math.ceilDiv(rows.queries(), wanted) < 2L * threads) {
            wanted /= 2;
        }
        this.block = Math.clamp(rows.queries(), 1, wanted);
        this.blocksPerHead = Math.ceilDiv(rows.queries(), block);
        this.keyBlock = Math.clamp(rows.keys(), 1, KEYS);
        this.cap = new Unary(UnaryFn.SCALED_TANH, rows.op().softCap(), 1);
        int size = rows.size();
        int sizeV = rows.sizeV();
        int subRows = Math.min(ROWS, block);
        Layout layout = new Layout();
        layout.take(Gemm.EDGE_BYTES);
        qAt = layout.take(4L * block * size);
        keysAt = layout.take(few ? 4L * keyBlock * size : Gemm.packedBytes(size, keyBlock));
        valuesAt = layout.take(few ? 4L * keyBlock * sizeV : Gemm.packedBytes(keyBlock, sizeV));
        rawAt = layout.take(4L * keyBlock * Math.max(size, sizeV));
        scoresAt = layout.take(4L * subRows * keyBlock);
        sumsAt = layout.take(4L * block * sizeV);
        maxAt = layout.take(4L * block);
        totalAt = layout.take(8L * block);
        maskAt = layout.take(4L * keyBlock);
        slowAt = layout.take(8 * rows.keys());
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        if (rows.sizeV() > 0) {
            long work = Math.max(1, block * rows.keys() * (rows.size() + rows.sizeV()));
            frame.parallel(this, rows.batches() * rows.heads() * blocksPerHead, Math.max(1, 100_000 / work));
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        for (long unit = from; unit < to; unit++) {
            long query = unit % blocksPerHead * block;
            int count = (int) Math.min(block, rows.queries() - query);
            queries(frame, loops, unit / blocksPerHead, query, count, frame.workspace(worker));
        }
    }

    private void queries(CpuFrame frame, Loops loops, long head, long query, int count, MemorySegment workspace) {
        int size = rows.size();
        int sizeV = rows.sizeV();
        long firstRow = head * rows.queries() + query;
        double factor = rows.factor() / (rows.op().softCap() > 0 ? rows.op().softCap() : 1);
        Convert.load(dtype, frame.at(rows.q()), firstRow * size, workspace, qAt, count * size);
        loops.affine(workspace, qAt, workspace, qAt, (float) factor, 0, count * size);
        loops.fill(workspace, sumsAt, 0, count * sizeV);
        loops.fill(workspace, maxAt, NONE, count);
        for (int r = 0; r < count; r++) {
            workspace.set(Convert.F64, totalAt + 8L * r, 0);
        }
        long first = rows.firstKey(query);
        long end = rows.endKey(query + count - 1);
        for (long key = first / keyBlock * keyBlock; key < end; key += keyBlock) {
            int keys = (int) Math.min(keyBlock, rows.keys() - key);
            loadKeys(frame, rows.keyHead(head), key, keys, workspace);
            for (int r = 0; r < count; r += ROWS) {
                int some = Math.min(ROWS, count - r);
                if (rows.firstKey(query + r) < key + keys && rows.endKey(query + r + some - 1) > key) {
                    attend(frame, loops, head, query, r, some, key, keys, workspace);
                }
            }
        }
        for (int r = 0; r < count; r++) {
            finish(frame, loops, firstRow + r, r, workspace);
        }
    }

    /** A block of keys and values in the form that this step multiplies. */
    private void loadKeys(CpuFrame frame, long keyHead, long key, int keys, MemorySegment workspace) {
        MemorySegment k = frame.at(rows.k());
        MemorySegment v = frame.at(rows.v());
        long kFrom = (keyHead * rows.keys() + key) * rows.size();
        long vFrom = (keyHead * rows.keys() + key) * rows.sizeV();
        if (few) {
            if (dtype != DType.F32) {
                Convert.load(dtype, k, kFrom, workspace, keysAt, keys * rows.size());
                Convert.load(dtype, v, vFrom, workspace, valuesAt, keys * rows.sizeV());
            }
            return;
        }
        MemorySegment raw = FloatRows.segment(dtype, k, kFrom, keys * rows.size(), workspace, rawAt);
        long offset = FloatRows.offset(dtype, kFrom, rawAt);
        Gemm.pack(raw, offset, 1, rows.size(), rows.size(), keys, workspace, keysAt);
        raw = FloatRows.segment(dtype, v, vFrom, keys * rows.sizeV(), workspace, rawAt);
        offset = FloatRows.offset(dtype, vFrom, rawAt);
        Gemm.pack(raw, offset, rows.sizeV(), 1, keys, rows.sizeV(), workspace, valuesAt);
    }

    /** Some rows against a block of keys. */
    private void attend(
            CpuFrame frame,
            Loops loops,
            long head,
            long query,
            int from,
            int count,
            long key,
            int keys,
            MemorySegment workspace) {
        int size = rows.size();
        long keyHead = rows.keyHead(head);
        if (few) {
            MemorySegment k = dtype == DType.F32 ? frame.at(rows.k()) : workspace;
            long offset = dtype == DType.F32 ? 4 * (keyHead * rows.keys() + key) * size : keysAt;
            for (int r = 0; r < count; r++) {
                loops.dots(
                        workspace,
                        qAt + 4L * (from + r) * size,
                        k,
                        offset,
                        size,
                        workspace,
                        scoresAt + 4L * r * keys,
                        keys);
            }
        } else {
            multiply(loops, count, keys, size, qAt + 4L * from * size, keysAt, scoresAt, keys, Loops.ZERO, workspace);
        }
        for (int r = 0; r < count; r++) {
            weigh(frame, loops, head, query + from + r, from + r, scoresAt + 4L * r * keys, key, keys, workspace);
        }
        int sizeV = rows.sizeV();
        long sums = sumsAt + 4L * from * sizeV;
        if (few) {
            MemorySegment v = dtype == DType.F32 ? frame.at(rows.v()) : workspace;
            long offset = dtype == DType.F32 ? 4 * (keyHead * rows.keys() + key) * sizeV : valuesAt;
            for (int r = 0; r < count; r++) {
                loops.mix(
                        workspace, scoresAt + 4L * r * keys, v, offset, sizeV, workspace, sums + 4L * r * sizeV, keys);
            }
        } else {
            boolean first = key == rows.firstKey(query + from) / keyBlock * keyBlock;
            int start = first ? Loops.ZERO : Loops.ACCUMULATE;
            multiply(loops, count, sizeV, keys, scoresAt, valuesAt, sums, sizeV, start, workspace);
        }
    }

    private void multiply(
            Loops loops, int m, int n, int k, long a, long b, long c, int ldc, int start, MemorySegment workspace) {
        MemorySegment none = MemorySegment.NULL;
        Gemm.multiply(
                loops, m, n, k, workspace, a, k, workspace, b, workspace, c, ldc, start, none, 0, workspace, edgeAt);
    }

    /** Turns the scores of a row into weights, relative to the largest score so far. */
    private void weigh(
            CpuFrame frame,
            Loops loops,
            long head,
            long query,
            int row,
            long scores,
            long key,
            int keys,
            MemorySegment workspace) {
        if (rows.op().softCap() > 0) {
            loops.unary(cap, workspace, scores, workspace, scores, keys);
        }
        applyMask(frame, loops, head * rows.queries() + query, scores, key, keys, workspace);
        int first = Math.clamp(rows.firstKey(query) - key, 0, keys);
        int end = Math.clamp(rows.endKey(query) - key, first, keys);
        loops.fill(workspace, scores, NONE, first);
        loops.fill(workspace, scores + 4L * end, NONE, keys - end);
        float before = workspace.get(Loops.F32, maxAt + 4L * row);
        float max = Math.max(before, loops.max(workspace, scores + 4L * first, end - first));
        if (max == NONE) {
            loops.fill(workspace, scores, 0, keys);
            return;
        }
        double total = loops.expSum(workspace, scores, max, workspace, scores, keys);
        float kept = before == max ? 1 : (float) Math.exp(before - max);
        if (kept != 1 && before != NONE) {
            long sums = sumsAt + 4L * row * rows.sizeV();
            loops.affine(workspace, sums, workspace, sums, kept, 0, rows.sizeV());
        }
        workspace.set(Loops.F32, maxAt + 4L * row, max);
        long at = totalAt + 8L * row;
        workspace.set(Convert.F64, at, workspace.get(Convert.F64, at) * kept + total);
    }

    private void applyMask(
            CpuFrame frame, Loops loops, long row, long scores, long key, int keys, MemorySegment workspace) {
        Broadcast walk = rows.maskWalk();
        if (walk == null) {
            return;
        }
        MemorySegment mask = frame.at(rows.mask());
        long at = walk.at(0, row * rows.keys() + key);
        boolean repeated = keys > 1 && walk.at(0, row * rows.keys() + key + 1) == at;
        if (rows.op().mask() == AttentionMask.BOOLEAN) {
            for (int j = 0; j < keys; j++) {
                if (mask.get(ValueLayout.JAVA_BYTE, repeated ? at : at + j) == 0) {
                    workspace.set(Loops.F32, scores + 4L * j, NONE);
                }
            }
            return;
        }
        MemorySegment addend = mask;
        long offset = 4 * at;
        if (repeated) {
            Convert.load(dtype, mask, at, workspace, maskAt, 1);
            loops.fill(workspace, maskAt, workspace.get(Loops.F32, maskAt), keys);
            addend = workspace;
            offset = maskAt;
        } else if (dtype != DType.F32) {
            Convert.load(dtype, mask, at, workspace, maskAt, keys);
            addend = workspace;
            offset = maskAt;
        }
        loops.binary(BinaryFn.ADD, workspace, scores, addend, offset, workspace, scores, keys);
    }

    /** Divides a row by the sum of its weights and stores it. */
    private void finish(CpuFrame frame, Loops loops, long row, int r, MemorySegment workspace) {
        int sizeV = rows.sizeV();
        long sums = sumsAt + 4L * r * sizeV;
        double total = workspace.get(Convert.F64, totalAt + 8L * r);
        float check = 0;
        for (int i = 0; i < sizeV; i++) {
            check += 0 * workspace.get(Loops.F32, sums + 4L * i);
        }
        if (Float.isNaN(check) && !Double.isNaN(total)) {
            rows.row(frame, row, workspace, slowAt);
            return;
        }
        float factor = total == 0 ? 0 : (float) (1 / total);
        if (dtype == DType.F32) {
            loops.affine(workspace, sums, frame.at(rows.y()), 4 * row * sizeV, factor, 0, sizeV);
        } else {
            loops.affine(workspace, sums, workspace, sums, factor, 0, sizeV);
            Convert.store(dtype, workspace, sums, frame.at(rows.y()), row * sizeV, sizeV);
        }
    }

    @Override
    public String tier() {
        return few ? "rows" : "packed blocks";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
