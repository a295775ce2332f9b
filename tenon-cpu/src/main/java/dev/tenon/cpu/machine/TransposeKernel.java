package dev.tenon.cpu.machine;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.Stream;

/**
 * Turns rows of elements into columns by machine code. Thread-safe.
 *
 * @param width bytes of an element: 1, 2, 4 or 8
 * @param vector bytes of a vector
 */
public record TransposeKernel(CallableCode plain, CallableCode stream, int width, int vector) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /** The code reads so many bytes of a row at once. */
    private static final int READ = 16;

    private static final List<Made> MADE = Stream.of(8, 16)
            .flatMap(lanes -> Stream.of(1, 2, 4, 8).map(width -> new Made(lanes, width)))
            .toList();

    /** Made when it is asked for: a process needs few of them. */
    private static final class Made extends Lazy<TransposeKernel> {
        private final int lanes;
        private final int width;

        Made(int lanes, int width) {
            this.lanes = lanes;
            this.width = width;
        }

        @Override
        protected TransposeKernel make() {
            return TransposeKernel.make(lanes, width);
        }
    }

    /** The one of the process, as {@link #make} makes it. */
    public static TransposeKernel of(int lanes, int width) {
        return MADE.get((lanes == 16 ? 4 : 0) + Integer.numberOfTrailingZeros(width))
                .get();
    }

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static TransposeKernel make(int lanes, int width) {
        CallableCode.require(lanes);
        return new TransposeKernel(
                CallableCode.of(TransposeCode.of(lanes, width, false)),
                CallableCode.of(TransposeCode.of(lanes, width, true)),
                width,
                4 * lanes);
    }

    /** Rows of a tile. */
    public int rows() {
        return vector / width;
    }

    /**
     * Turns as many whole tiles of rows as there are and as can be read 16 bytes at a time; returns how many rows.
     *
     * @param rows of {@code from}
     * @param n elements of each
     * @param to row i takes element i of each row; the rows do not overlap those of {@code from}
     * @param past whether results go past the caches, where they are aligned
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public int run(int rows, int n, Matrix from, Matrix to, boolean past, MemorySegment arguments) {
        long read = Math.ceilDiv((long) n * width, READ) * READ;
        int tiles = rows / rows();
        while (tiles > 0 && !from.holds((long) tiles * rows(), read)) {
            tiles--;
        }
        if (tiles <= 0 || n <= 0) {
            return 0;
        }
        int taken = tiles * rows();
        from.check(taken, read);
        to.checkWritable(n, (long) taken * width);
        arguments.set(LONG, TransposeCode.FROM, from.offset());
        arguments.set(LONG, TransposeCode.FROM_STEP, from.stride());
        arguments.set(LONG, TransposeCode.TO, to.offset());
        arguments.set(LONG, TransposeCode.TO_STEP, to.stride());
        arguments.set(LONG, TransposeCode.TILES, tiles);
        arguments.set(LONG, TransposeCode.N, n);
        CallableCode kernel = past && to.isWholeVectors((long) taken * width, vector) ? stream : plain;
        kernel.call(arguments, from.memory(), to.memory(), MemorySegment.NULL, MemorySegment.NULL);
        return taken;
    }
}
