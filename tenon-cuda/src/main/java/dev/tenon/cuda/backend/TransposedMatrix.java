package dev.tenon.cuda.backend;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.LongStream;

/** A constant matrix with rows and columns exchanged, on the host: done once when a model's weights are uploaded. */
final class TransposedMatrix {
    /** Rows and columns of a block: its lines stay in the first cache on both sides. */
    private static final long BLOCK = 32;

    private static final long PARALLEL_BYTES = 1 << 18;

    private TransposedMatrix() {}

    /**
     * In memory that is freed when unreachable.
     *
     * @throws IllegalArgumentException for anything but a matrix of elements of whole bytes
     */
    static MemorySegment of(ConstantData.Dense matrix) {
        Shape shape = matrix.type().shape();
        int bytes = matrix.type().dtype().bits() / 8;
        if (shape.rank() != 2 || bytes == 0) {
            throw new IllegalArgumentException("transposing a constant " + matrix.type() + "; expected a matrix");
        }
        long rows = shape.size(0);
        long columns = shape.size(1);
        MemorySegment from = matrix.segment();
        MemorySegment to = HostMemory.allocate(from.byteSize(), 64);
        LongStream tops = LongStream.range(0, Math.ceilDiv(rows, BLOCK));
        (from.byteSize() < PARALLEL_BYTES ? tops : tops.parallel()).forEach(block -> {
            long top = block * BLOCK;
            for (long left = 0; left < columns; left += BLOCK) {
                for (long row = top; row < Math.min(rows, top + BLOCK); row++) {
                    for (long column = left; column < Math.min(columns, left + BLOCK); column++) {
                        copy(from, (row * columns + column) * bytes, to, (column * rows + row) * bytes, bytes);
                    }
                }
            }
        });
        return to;
    }

    private static void copy(MemorySegment from, long at, MemorySegment to, long where, int bytes) {
        if (bytes == Integer.BYTES) {
            to.set(ValueLayout.JAVA_INT, where, from.get(ValueLayout.JAVA_INT_UNALIGNED, at));
        } else {
            MemorySegment.copy(from, at, to, where, bytes);
        }
    }
}
