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
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
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

    /** What a worker computes with. */
    private record Worker(CpuFrame frame, Loops loops, MemorySegment workspace) {}

    /**
     * A block of keys, and the queries that meet it.
     *
     * @param head number of the queries' head, of all batches
     * @param query the first query of the piece of work
     * @param first the first key, {@code count} of them
     */
    private record Keys(long head, long query, long first, int count) {}

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
        Worker own = new Worker(frame, Loops.current(), frame.workspace(worker));
        for (long unit = from; unit < to; unit++) {
            long query = unit % blocksPerHead * block;
            int count = (int) Math.min(block, rows.queries() - query);
            queries(own, unit / blocksPerHead, query, count);
        }
    }

    private void queries(Worker worker, long head, long query, int count) {
        Loops loops = worker.loops;
        MemorySegment workspace = worker.workspace;
        int size = rows.size();
        int sizeV = rows.sizeV();
        long firstRow = head * rows.queries() + query;
        double factor = rows.factor() / (rows.op().softCap() > 0 ? rows.op().softCap() : 1);
        Convert.load(dtype, worker.frame.at(rows.q()), firstRow * size, workspace, qAt, count * size);
        loops.affine(workspace, qAt, workspace, qAt, (float) factor, 0, count * size);
        loops.fill(workspace, sumsAt, 0, count * sizeV);
        loops.fill(workspace, maxAt, NONE, count);
        for (int r = 0; r < count; r++) {
            workspace.set(Convert.F64, totalAt + 8L * r, 0);
        }
        long first = rows.firstKey(query);
        long end = rows.endKey(query + count - 1);
        for (long key = first / keyBlock * keyBlock; key < end; key += keyBlock) {
            Keys keys = new Keys(head, query, key, (int) Math.min(keyBlock, rows.keys() - key));
            loadKeys(worker, keys);
            for (int r = 0; r < count; r += ROWS) {
                int some = Math.min(ROWS, count - r);
                if (rows.firstKey(query + r) < key + keys.count && rows.endKey(query + r + some - 1) > key) {
                    attend(worker, keys, r, some);
                }
            }
        }
        for (int r = 0; r < count; r++) {
            finish(worker, firstRow + r, r);
        }
    }

    /** A block of keys and values in the form that this step multiplies. */
    private void loadKeys(Worker worker, Keys keys) {
        MemorySegment workspace = worker.workspace;
        MemorySegment k = worker.frame.at(rows.k());
        MemorySegment v = worker.frame.at(rows.v());
        int count = keys.count;
        long kFrom = row(keys) * rows.size();
        long vFrom = row(keys) * rows.sizeV();
        if (few) {
            if (dtype != DType.F32) {
                Convert.load(dtype, k, kFrom, workspace, keysAt, count * rows.size());
                Convert.load(dtype, v, vFrom, workspace, valuesAt, count * rows.sizeV());
            }
            return;
        }
        MemorySegment raw = FloatRows.segment(dtype, k, kFrom, count * rows.size(), workspace, rawAt);
        long offset = FloatRows.offset(dtype, kFrom, rawAt);
        Gemm.pack(raw, offset, 1, rows.size(), rows.size(), count, workspace, keysAt);
        raw = FloatRows.segment(dtype, v, vFrom, count * rows.sizeV(), workspace, rawAt);
        offset = FloatRows.offset(dtype, vFrom, rawAt);
        Gemm.pack(raw, offset, rows.sizeV(), 1, count, rows.sizeV(), workspace, valuesAt);
    }

    /** The first key's row of k and v. */
    private long row(Keys keys) {
        return rows.keyHead(keys.head) * rows.keys() + keys.first;
    }

    /** The queries [from, from + count) of a piece of work against a block of keys. */
    private void attend(Worker worker, Keys keys, int from, int count) {
        Loops loops = worker.loops;
        MemorySegment workspace = worker.workspace;
        int size = rows.size();
        int columns = keys.count;
        if (few) {
            MemorySegment k = dtype == DType.F32 ? worker.frame.at(rows.k()) : workspace;
            long offset = dtype == DType.F32 ? 4 * row(keys) * size : keysAt;
            for (int r = 0; r < count; r++) {
                loops.dots(
                        workspace,
                        qAt + 4L * (from + r) * size,
                        k,
                        offset,
                        size,
                        workspace,
                        scoresAt + 4L * r * columns,
                        columns);
            }
        } else {
            Gemm.Size product = new Gemm.Size(count, columns, size);
            multiply(worker, product, qAt + 4L * from * size, keysAt, scoresAt, Start.ZERO);
        }
        for (int r = 0; r < count; r++) {
            weigh(worker, keys, from + r, scoresAt + 4L * r * columns);
        }
        int sizeV = rows.sizeV();
        long sums = sumsAt + 4L * from * sizeV;
        if (few) {
            MemorySegment v = dtype == DType.F32 ? worker.frame.at(rows.v()) : workspace;
            long offset = dtype == DType.F32 ? 4 * row(keys) * sizeV : valuesAt;
            for (int r = 0; r < count; r++) {
                loops.mix(
                        workspace,
                        scoresAt + 4L * r * columns,
                        v,
                        offset,
                        sizeV,
                        workspace,
                        sums + 4L * r * sizeV,
                        columns);
            }
        } else {
            boolean first = keys.first == rows.firstKey(keys.query + from) / keyBlock * keyBlock;
            Gemm.Size product = new Gemm.Size(count, sizeV, columns);
            multiply(worker, product, scoresAt, valuesAt, sums, first ? Start.ZERO : Start.RESULT);
        }
    }

    /** C[m, n] = start + A[m, k] B: matrices at byte offsets in workspace, B packed. */
    private void multiply(Worker worker, Gemm.Size size, long a, long b, long c, Start start) {
        MemorySegment memory = worker.workspace;
        Matrix left = new Matrix(memory, a, 4L * size.k());
        Matrix result = new Matrix(memory, c, 4L * size.n());
        Gemm.multiply(
                worker.loops,
                size,
                left,
                new Matrix(memory, b, Gemm.panelBytes(size.k())),
                result,
                start,
                new Place(memory, edgeAt));
    }

    /** Turns the scores of a row into weights, relative to the largest score so far. */
    private void weigh(Worker worker, Keys keys, int row, long scores) {
        Loops loops = worker.loops;
        MemorySegment workspace = worker.workspace;
        long query = keys.query + row;
        int count = keys.count;
        if (rows.op().softCap() > 0) {
            loops.unary(cap, workspace, scores, workspace, scores, count);
        }
        applyMask(worker, keys, query, scores);
        int first = Math.clamp(rows.firstKey(query) - keys.first, 0, count);
        int end = Math.clamp(rows.endKey(query) - keys.first, first, count);
        loops.fill(workspace, scores, NONE, first);
        loops.fill(workspace, scores + 4L * end, NONE, count - end);
        float before = workspace.get(Loops.F32, maxAt + 4L * row);
        float max = Math.max(before, loops.max(workspace, scores + 4L * first, end - first));
        if (max == NONE) {
            loops.fill(workspace, scores, 0, count);
            return;
        }
        double total = loops.expSum(workspace, scores, max, workspace, scores, count);
        float kept = before == max ? 1 : (float) Math.exp(before - max);
        if (kept != 1 && before != NONE) {
            long sums = sumsAt + 4L * row * rows.sizeV();
            loops.affine(workspace, sums, workspace, sums, kept, 0, rows.sizeV());
        }
        workspace.set(Loops.F32, maxAt + 4L * row, max);
        long at = totalAt + 8L * row;
        workspace.set(Convert.F64, at, workspace.get(Convert.F64, at) * kept + total);
    }

    private void applyMask(Worker worker, Keys keys, long query, long scores) {
        Broadcast walk = rows.maskWalk();
        if (walk == null) {
            return;
        }
        MemorySegment workspace = worker.workspace;
        MemorySegment mask = worker.frame.at(rows.mask());
        int count = keys.count;
        long element = (keys.head * rows.queries() + query) * rows.keys() + keys.first;
        long at = walk.at(0, element);
        boolean repeated = count > 1 && walk.at(0, element + 1) == at;
        if (rows.op().mask() == AttentionMask.BOOLEAN) {
            for (int j = 0; j < count; j++) {
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
            worker.loops.fill(workspace, maskAt, workspace.get(Loops.F32, maskAt), count);
            addend = workspace;
            offset = maskAt;
        } else if (dtype != DType.F32) {
            Convert.load(dtype, mask, at, workspace, maskAt, count);
            addend = workspace;
            offset = maskAt;
        }
        worker.loops.binary(BinaryFn.ADD, workspace, scores, addend, offset, workspace, scores, count);
    }

    /** Divides a row by the sum of its weights and stores it. */
    private void finish(Worker worker, long row, int r) {
        CpuFrame frame = worker.frame;
        Loops loops = worker.loops;
        MemorySegment workspace = worker.workspace;
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
