package dev.tenon.cpu.random;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.reduce.Heap;
import java.lang.foreign.MemorySegment;

/**
 * The largest of a row of weights from 0 to 1, ties by the lower index. Weights are counted and summed in buckets by
 * the upper bits of their floats; only the buckets in which a limit falls are put into order, by a heap.
 *
 * <p>The workspace holds the weights, then a heap's entries, then the buckets.
 */
final class LargestWeights {
    private static final int LOW_BITS = 16;
    private static final int BUCKETS = (Float.floatToRawIntBits(1) >>> LOW_BITS) + 1;
    /** A bucket's sum, then how many weights it has. */
    private static final long BUCKET = 16;

    private final int size;
    private final long heapAt;
    private final long bucketsAt;

    LargestWeights(int size) {
        this.size = size;
        this.heapAt = SizeMath.product("sample", size, Double.BYTES);
        this.bucketsAt = SizeMath.sum("sample", heapAt, SizeMath.product("sample", size, Heap.ENTRY));
    }

    long workspaceBytes() {
        return bucketsAt + BUCKETS * BUCKET;
    }

    /** The last one also for a weight that is no number, as minus infinity has at an infinite temperature. */
    private static int bucket(double weight) {
        return Math.min(Float.floatToRawIntBits((float) weight) >>> LOW_BITS, BUCKETS - 1);
    }

    private static double weight(MemorySegment weights, long index) {
        return weights.get(Raw.F64, index * Double.BYTES);
    }

    /** A number that is larger for what comes first; no two are equal. */
    private long key(MemorySegment weights, long index) {
        return (long) Float.floatToRawIntBits((float) weight(weights, index)) << 32 | (size - 1 - index);
    }

    private double sum(MemorySegment space, int bucket) {
        return space.get(Raw.F64, bucketsAt + bucket * BUCKET);
    }

    private long count(MemorySegment space, int bucket) {
        return space.get(Raw.I64, bucketsAt + bucket * BUCKET + Double.BYTES);
    }

    /**
     * Makes the weights 0 that are not among the {@code count} largest, and then the fewest, largest first, whose sum
     * is at least {@code share} of theirs.
     */
    void keep(MemorySegment space, long count, double share) {
        fillBuckets(space);
        // the last bucket of the largest, and how many of it are among them
        int last = BUCKETS - 1;
        long rest = Math.min(count, size);
        double sum = 0;
        while (rest > count(space, last)) {
            rest -= count(space, last);
            sum += sum(space, last--);
        }
        long cut;
        if (share < 1) {
            sum += rest == count(space, last) ? sum(space, last) : sumOfFirst(space, last, rest);
            cut = cut(space, last, rest, share * sum);
        } else {
            cut = first(space, last, rest, 0, Double.POSITIVE_INFINITY).key;
        }
        for (long i = 0; i < size; i++) {
            if (key(space, i) < cut) {
                space.set(Raw.F64, i * Double.BYTES, 0);
            }
        }
    }

    private void fillBuckets(MemorySegment space) {
        Raw.fillElements(DType.I64, space, bucketsAt / Long.BYTES, BUCKETS * BUCKET / Long.BYTES, 0);
        for (long i = 0; i < size; i++) {
            double weight = weight(space, i);
            long at = bucketsAt + bucket(weight) * BUCKET;
            space.set(Raw.F64, at, space.get(Raw.F64, at) + weight);
            space.set(Raw.I64, at + Double.BYTES, space.get(Raw.I64, at + Double.BYTES) + 1);
        }
    }

    private double sumOfFirst(MemorySegment space, int bucket, long count) {
        return first(space, bucket, count, 0, Double.POSITIVE_INFINITY).running;
    }

    /** The least key that stays, of the buckets down to {@code last}, of which {@code rest} weights count. */
    private long cut(MemorySegment space, int last, long rest, double target) {
        double running = 0;
        Prefix prefix = new Prefix(Long.MAX_VALUE, 0);
        for (int bucket = BUCKETS - 1; bucket >= last; bucket--) {
            long there = bucket == last ? rest : count(space, bucket);
            if (there == 0) {
                continue;
            }
            if (there == count(space, bucket) && running + sum(space, bucket) < target) {
                running += sum(space, bucket);
                prefix = new Prefix((long) bucket << LOW_BITS + 32, running);
                continue;
            }
            boolean none = prefix.key == Long.MAX_VALUE;
            if (!none && running >= target) {
                break;
            }
            prefix = first(space, bucket, there, running, target);
            running = prefix.running;
        }
        return prefix.key;
    }

    /** The key of the last weight of a prefix, and the running sum with it. */
    private record Prefix(long key, double running) {}

    /** The largest weights of a bucket, one at least and until the running sum has reached the target. */
    private Prefix first(MemorySegment space, int bucket, long count, double before, double target) {
        MemorySegment heap = space.asSlice(heapAt, SizeMath.product("sample", size, Heap.ENTRY));
        long left = 0;
        for (long i = 0; i < size; i++) {
            if (bucket(weight(space, i)) == bucket) {
                Heap.set(heap, left++, ~key(space, i), i); // the worst is on top
            }
        }
        Heap.make(heap, left);
        double running = before;
        long key = 0;
        for (long i = 0; i < count && (i == 0 || running < target); i++) {
            long index = Heap.topIndex(heap);
            key = key(space, index);
            running += weight(space, index);
            Heap.removeTop(heap, left--);
        }
        return new Prefix(key, running);
    }
}
