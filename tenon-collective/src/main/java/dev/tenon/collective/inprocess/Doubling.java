package dev.tenon.collective.inprocess;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.reduce.Arithmetic;

/**
 * One rank's part in an all-reduce by recursive doubling: pairs at distance 1, 2, 4, … exchange all that they have, so
 * after log2(world) steps everybody has everything. When the world is no power of two, the first ranks join up in pairs
 * before, and the one of each pair that sat out is given the result.
 *
 * <p>Both of a pair fold the lower rank's into the higher's, so all ranks get the same bits.
 *
 * @param <A> the arrays that the kernel works in
 */
final class Doubling<A> {
    private final Arithmetic<A> kernel;
    private final int length;
    private final int rank;
    private final int world;
    private final Links links;
    private final Wait wait;
    private A shown;
    private A spare;

    Doubling(Arithmetic<A> kernel, int length, int rank, int world, Links links, Wait wait) {
        this.kernel = kernel;
        this.length = length;
        this.rank = rank;
        this.world = world;
        this.links = links;
        this.wait = wait;
        shown = kernel.allocate(length);
        spare = kernel.allocate(length);
    }

    void reduce(HostBuffer source, HostBuffer target) {
        kernel.load(source, 0, shown, 0, length);
        int size = Integer.highestOneBit(world);
        int extra = world - size;
        if (rank < 2 * extra && rank % 2 == 0) {
            Link link = links.get(rank, rank + 1);
            link.post(shown, wait);
            link.awaitReleased(wait);
            receive(rank + 1, target);
            return;
        }
        if (rank < 2 * extra) {
            fold(rank - 1);
        }
        int place = rank < 2 * extra ? rank / 2 : rank - extra;
        for (int distance = 1; distance < size; distance *= 2) {
            exchange(rankAt(place ^ distance, extra));
        }
        kernel.finish(shown, 0, length, world);
        kernel.store(shown, 0, target, 0, length);
        if (rank < 2 * extra) {
            Link link = links.get(rank, rank - 1);
            link.post(target, wait);
            link.awaitReleased(wait);
        }
    }

    private static int rankAt(int place, int extra) {
        return place < extra ? 2 * place + 1 : place + extra;
    }

    private void exchange(int partner) {
        Link link = links.get(rank, partner);
        link.post(shown, wait);
        fold(partner);
        link.awaitReleased(wait); // what was shown is the spare one now
    }

    private void fold(int partner) {
        Link link = links.get(partner, rank);
        A other = link.take(kernel.arrayType(), wait);
        if (partner < rank) {
            kernel.fold(spare, shown, other, 0, length);
        } else {
            kernel.fold(spare, other, shown, 0, length);
        }
        link.release();
        A swap = shown;
        shown = spare;
        spare = swap;
    }

    private void receive(int partner, HostBuffer target) {
        Link link = links.get(partner, rank);
        link.take(HostBuffer.class, wait).copyTo(target);
        link.release();
    }
}
