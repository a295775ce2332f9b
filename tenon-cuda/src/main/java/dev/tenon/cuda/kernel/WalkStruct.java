package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.Broadcast;
import java.lang.foreign.MemorySegment;

/** The struct {@code Walk} of walk.cuh: where the elements of operands lie that are read under one shape. */
public final class WalkStruct {
    public static final int DIMS = MovementKernels.MOST_DIMS;
    public static final int ALIGNMENT = 8;

    private WalkStruct() {}

    /**
     * @param operands of the struct; those past {@code strides} are 0 throughout
     * @param sizes outermost first, at most {@link #DIMS} of them
     * @param strides of each operand, in elements, one a dim
     */
    public static MemorySegment of(int operands, long[] sizes, long[]... strides) {
        long[] words = new long[1 + DIMS + operands * DIMS];
        words[0] = sizes.length;
        System.arraycopy(sizes, 0, words, 1, sizes.length);
        for (int i = 0; i < strides.length; i++) {
            System.arraycopy(strides[i], 0, words, 1 + DIMS + i * DIMS, sizes.length);
        }
        return MemorySegment.ofArray(words).asReadOnly();
    }

    public static MemorySegment of(int operands, Broadcast broadcast, int count) {
        long[][] strides = new long[count][];
        for (int i = 0; i < count; i++) {
            strides[i] = broadcast.strides(i);
        }
        return of(operands, broadcast.sizes(), strides);
    }
}
