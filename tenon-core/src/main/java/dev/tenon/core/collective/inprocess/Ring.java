package dev.tenon.core.collective.inprocess;

import dev.tenon.core.collective.Chunks;
import dev.tenon.core.collective.HostBuffer;
import dev.tenon.core.collective.reduce.Kernel;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part in a ring all-reduce (Patarasuk and Yuan 2009): world − 1 steps of scatter-reduce, after which each rank holds one chunk of the result, then world − 1 steps of all-gather. In each step a rank shows one chunk to
 * its right neighbour and takes another from its left; nothing is copied to be sent.
 *
 * @param <A> the arrays that the kernel works in
 */
final class Ring<A> {
    private final Kernel<A> kernel;
    private final Chunks chunks;
    private final int rank;
    private final Link send;
    private final Link receive;
    private final Wait wait;
    private final @Nullable RingListener listener;

    /**
     * @param send the link to the rank after this one
     * @param receive the link from the rank before
     */
    Ring(
            Kernel<A> kernel,
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
    }

    /** All-reduce of buffers that are arrays: partial sums lie in the target itself. Every rank's must be, or none's is taken as one. */
    void reduceArrays(A source, A target, HostBuffer result) {
        A shown = source;
        for (int step = 0; step < chunks.world() - 1; step++) {
            send.post(shown, wait);
            int chunk = received(step);
            A left = receive.take(kernel.arrayType(), wait);
            kernel.fold(target, source, left, start(chunk), end(chunk));
            receive.release();
            shown = target;
            if (listener != null) {
                listener.reduced(rank, step, sent(step), chunk, result);
            }
        }
        kernel.finish(target, start(owned()), end(owned()), chunks.world());
        gather(result);
    }

    /** All-reduce of any buffers: partial sums lie in two arrays of the size of a chunk, one being filled while the neighbour reads the other. */
    void reduceBuffers(HostBuffer source, HostBuffer target) {
        int most = (int) Math.ceilDiv(chunks.length(), chunks.world());
        A shown = kernel.allocate(most);
        A spare = kernel.allocate(most);
        kernel.load(source, chunks.start(rank), shown, 0, (int) chunks.size(rank));
        for (int step = 0; step < chunks.world() - 1; step++) {
            send.post(shown, wait);
            int chunk = received(step);
            int size = (int) chunks.size(chunk);
            send.awaitReleasedButLast(wait); // the neighbour is done with the spare one
            A left = receive.take(kernel.arrayType(), wait);
            kernel.load(source, chunks.start(chunk), spare, 0, size);
            kernel.fold(spare, spare, left, 0, size);
            receive.release();
            A swap = shown;
            shown = spare;
            spare = swap;
        }
        kernel.finish(shown, 0, (int) chunks.size(owned()), chunks.world());
        kernel.store(shown, 0, target, chunks.start(owned()), (int) chunks.size(owned()));
        gather(target);
    }

    /** Passes finished chunks round. Ends when the neighbour has read the last of them: the buffers are then the caller's again. */
    private void gather(HostBuffer target) {
        for (int step = 0; step < chunks.world() - 1; step++) {
            send.post(target, wait);
            int chunk = gathered(step);
            HostBuffer left = receive.take(HostBuffer.class, wait);
            left.copyTo(target, chunks.start(chunk), chunks.size(chunk));
            receive.release();
            if (listener != null) {
                listener.gathered(rank, step, gathered(step - 1), chunk, target);
            }
        }
        send.awaitReleased(wait);
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

    private int start(int chunk) {
        return (int) chunks.start(chunk);
    }

    private int end(int chunk) {
        return (int) chunks.end(chunk);
    }
}
