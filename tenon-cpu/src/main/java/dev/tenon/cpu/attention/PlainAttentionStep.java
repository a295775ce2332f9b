package dev.tenon.cpu.attention;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import dev.tenon.cpu.step.Records;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

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
    private final @Nullable Work[] works = new @Nullable Work[MOST_ROWS + 1];

    /** What a worker computes with, made once for all of its heads. */
    private record Worker(
            CpuFrame frame,
            Loops loops,
            MemorySegment workspace,
            Records records,
            Place edge,
            Matrix keys,
            Matrix values,
            Matrix scores) {}

    /** What does not depend on memory, for a number of rows. */
    private record Work(Gemm.Size scores, SoftmaxKernel.Form weights, Gemm.Size result) {}

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
        Worker own = worker(frame, workspace, frame.records(worker));
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

    private Worker worker(CpuFrame frame, MemorySegment workspace, Records records) {
        Loops loops = Loops.current();
        if (records.kept(this) instanceof Worker known
                && known.loops.equals(loops)
                && Records.same(known.workspace, workspace)) {
            return known;
        }
        Worker made = new Worker(
                frame,
                loops,
                workspace,
                records,
                records.place(workspace, edgeAt),
                records.matrix(workspace, keysAt, Gemm.panelBytes(q.size)),
                records.matrix(workspace, valuesAt, Gemm.panelBytes(sizes.keys)),
                records.matrix(workspace, scoresAt, scoreStep));
        records.keep(this, made);
        return made;
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
        Matrix queries = worker.records.matrix(frame.at(q.slot), q.at(batch, query, own), 4 * q.ofToken);
        Work work = work(count);
        Gemm.multiply(loops, work.scores, queries, worker.keys, scores, Start.ZERO, worker.edge);
        if (mask.single) {
            for (int row = 0; row < count; row++) {
                long at = 4 * (batch * mask.ofBatch + own * mask.ofHead + (query + row) * mask.ofQuery);
                loops.fill(workspace, maskAt, frame.at(mask.slot).get(Loops.F32, at), sizes.keys);
                Matrix single = worker.records.matrix(workspace, scoresAt + row * scoreStep, scoreStep);
                weigh(loops, 1, single, worker.records.matrix(workspace, maskAt, 0));
            }
        } else if (mask.slot >= 0) {
            long at = 4 * (batch * mask.ofBatch + own * mask.ofHead + query * mask.ofQuery);
            weigh(loops, count, scores, worker.records.matrix(frame.at(mask.slot), at, 4 * mask.ofQuery));
        } else {
            weigh(loops, count, scores, Matrix.NONE);
        }
        Matrix result = worker.records.matrix(frame.at(y.slot), y.at(batch, query, own), 4 * y.ofToken);
        Gemm.multiply(loops, work.result, scores, worker.values, result, Start.ZERO, worker.edge);
    }

    /** Made once for each number of rows; threads that make one at the same time make the same. */
    private Work work(int count) {
        Work known = works[count];
        if (known == null) {
            known = new Work(
                    new Gemm.Size(count, sizes.keys, q.size),
                    new SoftmaxKernel.Form(count, sizes.keys, (float) op.scale(), op.guarded(), false),
                    new Gemm.Size(count, v.size, sizes.keys));
            works[count] = known;
        }
        return known;
    }

    private void weigh(Loops loops, int count, Matrix scores, Matrix addend) {
        loops.softmax(work(count).weights, scores, addend, scores, scores);
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
