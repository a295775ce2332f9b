package dev.tenon.cpu.attention;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.machine.Matrix;
import dev.tenon.cpu.machine.Place;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * {@link PlainAttention} of f32 by heads: keys and values of a head are packed once for up to {@link #QUERIES} queries,
 * whose scores are made, turned into weights and used up {@link #rows} rows at a time, in the first-level cache.
 * Operands are read where projections leave them, tokens before heads.
 */
final class PlainAttentionStep implements CpuStep, RangeTask {
    /** A piece of work: what packing costs is a small part of what so many queries do. */
    private static final int QUERIES = 512;

    /** Bytes of scores at a time: they stay near, and calls are few. */
    private static final long SCORE_BYTES = 48 * 1024;

    /** Rows of a tile of the widest kernel. */
    private static final int TILE = 12;

    private static final int MOST_ROWS = 8 * TILE;

    /** Multiply-adds that are worth handing to another thread. */
    private static final long PIECE = 100_000;

    private static final int CACHE_LINE = 64;

    /**
     * Where an operand's rows lie, in elements: a token's row of a head begins at {@code from + batch * ofBatch +
     * token * ofToken + head * size}.
     */
    record Rows(int slot, long from, long ofBatch, long ofToken, int size) {
        long at(long batch, long token, long head) {
            return 4 * (from + batch * ofBatch + token * ofToken + head * size);
        }
    }

    /** How many of each there are. */
    record Sizes(long batches, long heads, long queries, int keys) {}

    /**
     * The addend of scores, in elements from one batch, head and query to the next.
     *
     * @param slot less than 0 for none
     * @param single whether a query has one addend for all keys
     */
    record Mask(int slot, long ofBatch, long ofHead, long ofQuery, boolean single) {
        static final Mask NONE = new Mask(-1, 0, 0, 0, false);
    }

    private final PlainAttention op;
    private final Sizes sizes;
    private final Rows q;
    private final Rows k;
    private final Rows v;
    private final Rows y;
    private final Mask mask;
    private final int block;
    private final long blocks;
    private final int rows;
    private final long scoreStep;
    private final long edgeAt = 0;
    private final long keysAt;
    private final long valuesAt;
    private final long scoresAt;
    private final long maskAt;
    private final long workspaceBytes;

    /** What a worker computes with, made once for all of its heads. */
    private record Worker(
            CpuFrame frame,
            Loops loops,
            MemorySegment workspace,
            Place edge,
            Place keys,
            Place values,
            Matrix scores) {}

    /** @param operands q, k, v and the result */
    PlainAttentionStep(PlainAttention op, Sizes sizes, Rows[] operands, Mask mask, int threads) {
        this.op = op;
        this.sizes = sizes;
        this.q = operands[0];
        this.k = operands[1];
        this.v = operands[2];
        this.y = operands[3];
        this.mask = mask;
        long heads = sizes.batches * sizes.heads;
        int wanted = QUERIES;
        while (wanted > 2 * TILE && heads * Math.ceilDiv(sizes.queries, wanted) < 2L * threads && threads > 1) {
            wanted /= 2;
        }
        this.block = Math.clamp(sizes.queries, 1, wanted);
        this.blocks = Math.ceilDiv(sizes.queries, block);
        this.scoreStep = Math.ceilDiv(4L * sizes.keys, CACHE_LINE) * CACHE_LINE;
        int fitting = Math.clamp(SCORE_BYTES / Math.max(scoreStep, 1) / TILE * TILE, TILE, MOST_ROWS);
        this.rows = Math.min(fitting, block);
        Layout layout = new Layout();
        layout.take(Gemm.EDGE_BYTES);
        keysAt = layout.take(Gemm.packedBytes(k.size, sizes.keys));
        valuesAt = layout.take(Gemm.packedBytes(sizes.keys, v.size));
        scoresAt = layout.take(SizeMath.product("attention", scoreStep, rows));
        maskAt = layout.take(mask.single ? 4L * sizes.keys : 0);
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        if (v.size > 0) {
            long work = Math.max(1, (long) block * sizes.keys * (q.size + v.size));
            frame.parallel(this, sizes.batches * sizes.heads * blocks, Math.max(1, PIECE / work));
        }
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment workspace = frame.workspace(worker);
        Worker own = new Worker(
                frame,
                Loops.current(),
                workspace,
                new Place(workspace, edgeAt),
                new Place(workspace, keysAt),
                new Place(workspace, valuesAt),
                new Matrix(workspace, scoresAt, scoreStep));
        long packed = -1;
        for (long unit = from; unit < to; unit++) {
            long head = unit / blocks;
            if (head != packed) {
                pack(own, head / sizes.heads, head % sizes.heads);
                packed = head;
            }
            long first = unit % blocks * block;
            long end = Math.min(first + block, sizes.queries);
            for (long query = first; query < end; query += rows) {
                attend(own, head, query, (int) Math.min(rows, end - query));
            }
        }
    }

    private void pack(Worker worker, long batch, long head) {
        MemorySegment workspace = worker.workspace;
        MemorySegment memory = worker.frame.at(k.slot);
        Gemm.pack(memory, k.at(batch, 0, head), 1, k.ofToken, k.size, sizes.keys, workspace, keysAt);
        memory = worker.frame.at(v.slot);
        Gemm.pack(memory, v.at(batch, 0, head), v.ofToken, 1, sizes.keys, v.size, workspace, valuesAt);
    }

    private void attend(Worker worker, long head, long query, int count) {
        CpuFrame frame = worker.frame;
        MemorySegment workspace = worker.workspace;
        Loops loops = worker.loops;
        long batch = head / sizes.heads;
        long own = head % sizes.heads;
        Matrix scores = worker.scores;
        Matrix queries = new Matrix(frame.at(q.slot), q.at(batch, query, own), 4 * q.ofToken);
        Gemm.Size size = new Gemm.Size(count, sizes.keys, q.size);
        Gemm.multiply(loops, size, queries, worker.keys, scores, Start.ZERO, worker.edge);
        if (mask.single) {
            for (int row = 0; row < count; row++) {
                long at = 4 * (batch * mask.ofBatch + own * mask.ofHead + (query + row) * mask.ofQuery);
                loops.fill(workspace, maskAt, frame.at(mask.slot).get(Loops.F32, at), sizes.keys);
                weigh(loops, 1, scores.plus(row * scoreStep), new Matrix(workspace, maskAt, 0));
            }
        } else if (mask.slot >= 0) {
            long at = 4 * (batch * mask.ofBatch + own * mask.ofHead + query * mask.ofQuery);
            weigh(loops, count, scores, new Matrix(frame.at(mask.slot), at, 4 * mask.ofQuery));
        } else {
            weigh(loops, count, scores, Matrix.NONE);
        }
        Matrix result = new Matrix(frame.at(y.slot), y.at(batch, query, own), 4 * y.ofToken);
        size = new Gemm.Size(count, v.size, sizes.keys);
        Gemm.multiply(loops, size, scores, worker.values, result, Start.ZERO, worker.edge);
    }

    private void weigh(Loops loops, int count, Matrix scores, Matrix addend) {
        SoftmaxKernel.Form form = new SoftmaxKernel.Form(count, sizes.keys, (float) op.scale(), op.guarded(), false);
        loops.softmax(form, scores, addend, scores, scores);
    }

    @Override
    public String tier() {
        return "heads";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
