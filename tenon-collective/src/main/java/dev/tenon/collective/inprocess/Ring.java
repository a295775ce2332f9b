package dev.tenon.collective.inprocess;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.reduce.Arithmetic;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part in a ring all-reduce (Patarasuk and Yuan 2009): world − 1 steps of scatter-reduce, after which each
 * rank holds one chunk of the result, then world − 1 steps of all-gather. In each step a rank shows one chunk to its
 * right neighbour and takes another from its left; nothing is copied to be sent.
 *
 * @param <A> the arrays that the kernel works in
 */
final class Ring<A> {
    /**
     * Bytes of all ranks that go round at once: bounds the arrays that partial sums lie in where elements are
     * converted. For speed it does not matter (2, 4 and 8 MiB came out alike).
     */
    private static final long PASS_BYTES = 16 << 20;

    private final Arithmetic<A> kernel;
    private final Chunks chunks;
    private final int passes;
    private final int rank;
    private final Link send;
    private final Link receive;
    private final Wait wait;
    private final @Nullable RingListener listener;
    private int pass;

    /**
     * @param send the link to the rank after this one
     * @param receive the link from the rank before
     */
    Ring(
            Arithmetic<A> kernel,
            Chunks chunks,
            int rank,
            Link send,
            Link receive,
            Wait wait,
            @Nullable RingListener listener) {
        this.kernel = kernel;
        this.chunks = chunks;
        this.rank = rank;
        this.send = send;
        this.receive = receive;
        this.wait = wait;
        this.listener = listener;
        long bytes = chunks.length() * kernel.elementBytes() * chunks.world();
        passes = listener == null ? (int) Math.max(1, bytes / PASS_BYTES) : 1; // who is told wants to see whole chunks
    }

    /**
     * All-reduce of buffers that are arrays: partial sums lie in the target itself. Every rank's must be, or none's is
     * taken as one.
     */
    void reduceArrays(A source, A target, HostBuffer result) {
        for (pass = 0; pass < passes; pass++) {
            A shown = source;
            for (int step = 0; step < chunks.world() - 1; step++) {
                send.post(shown, wait);
                int chunk = received(step);
                A left = receive.take(kernel.arrayType(), wait);
                kernel.fold(target, source, left, (int) start(chunk), (int) end(chunk));
                receive.release();
                shown = target;
                if (listener != null) {
                    listener.reduced(rank, step, sent(step), chunk, result);
                }
            }
            kernel.finish(target, (int) start(owned()), (int) end(owned()), chunks.world());
            gather(result);
        }
        send.awaitReleased(wait);
    }

    /**
     * All-reduce of any buffers: partial sums lie in two arrays, one being filled while the neighbour reads the other.
     */
    void reduceBuffers(HostBuffer source, HostBuffer target) {
        int most = (int) (chunks.length() / chunks.world() / passes) + 2; // both divisions leave some a little larger
        A shown = kernel.allocate(most);
        A spare = kernel.allocate(most);
        for (pass = 0; pass < passes; pass++) {
            send.awaitReleased(wait);
            kernel.load(source, start(rank), shown, 0, size(rank));
            for (int step = 0; step < chunks.world() - 1; step++) {
                send.post(shown, wait);
                int chunk = received(step);
                send.awaitReleasedButLast(wait); // the neighbour is done with the spare one
                A left = receive.take(kernel.arrayType(), wait);
                kernel.load(source, start(chunk), spare, 0, size(chunk));
                kernel.fold(spare, spare, left, 0, size(chunk));
                receive.release();
                A swap = shown;
                shown = spare;
                spare = swap;
            }
            kernel.finish(shown, 0, size(owned()), chunks.world());
            kernel.store(shown, 0, target, start(owned()), size(owned()));
            gather(target);
        }
        send.awaitReleased(wait);
    }

    /** Passes finished chunks round. The buffers are the caller's again when the neighbour has released the last. */
    private void gather(HostBuffer target) {
        for (int step = 0; step < chunks.world() - 1; step++) {
            send.post(target, wait);
            int chunk = gathered(step);
            HostBuffer left = receive.take(HostBuffer.class, wait);
            left.copyTo(target, start(chunk), size(chunk));
            receive.release();
            if (listener != null) {
                listener.gathered(rank, step, gathered(step - 1), chunk, target);
            }
        }
    }

    private int sent(int step) {
        return Math.floorMod(rank - step, chunks.world());
    }

    private int received(int step) {
        return sent(step + 1);
    }

    /** The chunk that this rank finishes. */
    private int owned() {
        return Math.floorMod(rank + 1, chunks.world());
    }

    private int gathered(int step) {
        return sent(step);
    }

    /** The first element of this pass's piece of a chunk. */
    private long start(int chunk) {
        return chunks.start(chunk) + new Chunks(chunks.size(chunk), passes).start(pass);
    }

    private long end(int chunk) {
        return chunks.start(chunk) + new Chunks(chunks.size(chunk), passes).end(pass);
    }

    private int size(int chunk) {
        return (int) (end(chunk) - start(chunk));
    }
}
