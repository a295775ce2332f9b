package dev.tenon.collective.inprocess;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.reduce.Arithmetic;
import java.lang.reflect.Array;
import org.jspecify.annotations.Nullable;

/**
 * A reduction straight out of all ranks' buffers: every element is folded in the order in which it would go round the
 * ring, from the rank that its chunk is numbered after, so the result has the ring's bits.
 *
 * @param <A> the arrays that the kernel works in
 */
final class DirectReduce<A> implements Tasks {
    /**
     * Elements folded before the next: 2 KiB of f32, so that what eight ranks' tiles were read into is still in the
     * first-level cache when the result is written there (a seventh faster than 8 KiB on one thread).
     */
    private static final int TILE = 512;

    /** A smaller task costs more to share out than to do. */
    private static final int LEAST_TASK = 2048;

    /** Tasks for each rank, so that a core which is called away does not hold up the others. */
    private static final int TASKS_A_RANK = 4;

    private final Arithmetic<A> kernel;
    private final Chunks chunks;
    private final HostBuffer[] sources;
    private final HostBuffer[] targets;
    private final A @Nullable [] sourceArrays;
    private final A @Nullable [] targetArrays;
    private final boolean scatter;
    private final long taskSize;

    /** @param scatter whether each rank gets its own chunk alone */
    DirectReduce(Arithmetic<A> kernel, Round round, Chunks chunks, boolean scatter) {
        this.kernel = kernel;
        this.chunks = chunks;
        this.scatter = scatter;
        int world = chunks.world();
        sources = new HostBuffer[world];
        targets = new HostBuffer[world];
        for (int rank = 0; rank < world; rank++) {
            sources[rank] = round.call(rank).source();
            targets[rank] = round.call(rank).target();
        }
        A[] from = scatter ? null : arrays(sources);
        A[] to = from == null ? null : arrays(targets);
        sourceArrays = to == null ? null : from;
        targetArrays = to;
        taskSize = Math.max(LEAST_TASK, Math.ceilDiv(chunks.length(), (long) TASKS_A_RANK * world));
    }

    /** The arrays under the buffers; null unless every buffer is one. */
    private A @Nullable [] arrays(HostBuffer[] buffers) {
        @SuppressWarnings("unchecked") // an array of the class's own type
        A[] arrays = (A[]) Array.newInstance(kernel.arrayType(), buffers.length);
        for (int rank = 0; rank < buffers.length; rank++) {
            A array = kernel.array(buffers[rank]);
            if (array == null) {
                return null;
            }
            arrays[rank] = array;
        }
        return arrays;
    }

    @Override
    public int count() {
        return (int) Math.ceilDiv(chunks.length(), taskSize);
    }

    @Override
    public void run(int task) {
        long end = Math.min(chunks.length(), (task + 1) * taskSize);
        for (long at = task * taskSize; at < end; ) {
            int chunk = chunks.of(at);
            long chunkEnd = Math.min(end, chunks.end(chunk));
            if (sourceArrays != null && targetArrays != null) {
                foldArrays(sourceArrays, targetArrays, chunk, (int) at, (int) chunkEnd);
            } else {
                foldBuffers(chunk, at, chunkEnd);
            }
            at = chunkEnd;
        }
    }

    private void foldArrays(A[] from, A[] to, int chunk, int start, int end) {
        int world = chunks.world();
        A into = to[chunk];
        for (int at = start; at < end; at += TILE) {
            int tileEnd = Math.min(end, at + TILE);
            A sum = from[chunk];
            int folded = 1;
            for (; folded + 3 <= world; folded += 3) {
                kernel.fold(
                        into,
                        sum,
                        from[turn(chunk, folded)],
                        from[turn(chunk, folded + 1)],
                        from[turn(chunk, folded + 2)],
                        at,
                        tileEnd);
                sum = into;
            }
            for (; folded < world; folded++) {
                kernel.fold(into, from[turn(chunk, folded)], sum, at, tileEnd);
                sum = into;
            }
            if (world == 1) {
                System.arraycopy(sum, at, into, at, tileEnd - at);
            }
            kernel.finish(into, at, tileEnd, world);
            for (int other = 1; other < world; other++) {
                System.arraycopy(into, at, to[turn(chunk, other)], at, tileEnd - at);
            }
        }
    }

    private void foldBuffers(int chunk, long start, long end) {
        int world = chunks.world();
        A sum = kernel.allocate((int) Math.min(TILE, end - start));
        A other = kernel.allocate((int) Math.min(TILE, end - start));
        for (long at = start; at < end; at += TILE) {
            int count = (int) Math.min(TILE, end - at);
            kernel.load(sources[chunk], at, sum, 0, count);
            for (int folded = 1; folded < world; folded++) {
                kernel.load(sources[turn(chunk, folded)], at, other, 0, count);
                kernel.fold(sum, other, sum, 0, count);
            }
            kernel.finish(sum, 0, count, world);
            if (scatter) {
                kernel.store(sum, 0, targets[chunk], at - chunks.start(chunk), count);
                continue;
            }
            kernel.store(sum, 0, targets[chunk], at, count);
            for (int rank = 1; rank < world; rank++) {
                targets[chunk].copyTo(targets[turn(chunk, rank)], at, count);
            }
        }
    }

    private int turn(int chunk, int ranks) {
        int rank = chunk + ranks;
        return rank < chunks.world() ? rank : rank - chunks.world();
    }
}
