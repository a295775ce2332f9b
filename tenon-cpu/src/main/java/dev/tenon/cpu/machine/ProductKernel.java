package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Products of f32 matrices by code of our own, made for this processor when the process first asks. It runs at full
 * speed from the first call on, where Java's loops have to be compiled first.
 *
 * <p>Thread-safe.
 *
 * @param lanes floats of a vector; a panel of B has two vectors of columns
 */
public record ProductKernel(CallableCode kernel, int lanes) {
    private static final int BYTES_LANES = 16;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /**
     * The kernel with vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static ProductKernel make(int lanes) {
        CallableCode.require(lanes);
        return new ProductKernel(CallableCode.of(ProductCode.of(lanes, false)), lanes);
    }

    /**
     * The kernel of 8-bit integers: of {@link #run}'s floats of A and B each is four bytes along k, A's unsigned and
     * B's signed, zero past the last; those of C and start are integers of 32 bits, and sums wrap.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static ProductKernel makeBytes() {
        CallableCode.require(BYTES_LANES);
        if (!Processor.HERE.bytes()) {
            throw new IllegalStateException("the processor has no exact sums of products of bytes (AVX-512 VNNI)");
        }
        return new ProductKernel(CallableCode.of(ProductCode.of(BYTES_LANES, true)), BYTES_LANES);
    }

    /** Columns of a panel. */
    public int columns() {
        return 2 * lanes;
    }

    /**
     * C[m, n] = start + A[m, k] B.
     *
     * @param b panels of {@link #columns} columns, zero past the last
     * @param start an m by n matrix, which may be C; with a stride of zero one row for all; or {@link Matrix#NONE}
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if a matrix does not lie within its memory
     */
    public void run(int m, int n, int k, Matrix a, Matrix b, Matrix c, Matrix start, MemorySegment arguments) {
        if (m <= 0 || n <= 0) {
            return;
        }
        long row = 4L * n;
        int panels = Math.ceilDiv(n, columns());
        a.check(m, 4L * k);
        b.check(panels, 4L * k * columns());
        c.checkWritable(m, row);
        boolean begins = !start.isNone();
        if (begins) {
            start.check(m, row);
        }
        arguments.set(LONG, ProductCode.M, m);
        arguments.set(LONG, ProductCode.K, k);
        arguments.set(LONG, ProductCode.PANELS, panels);
        arguments.set(LONG, ProductCode.A, a.offset());
        arguments.set(LONG, ProductCode.LDA, a.stride());
        arguments.set(LONG, ProductCode.B, b.offset());
        arguments.set(LONG, ProductCode.B_STEP, b.stride());
        arguments.set(LONG, ProductCode.C, c.offset());
        arguments.set(LONG, ProductCode.LDC, c.stride());
        arguments.set(LONG, ProductCode.START, begins ? start.offset() : 0);
        arguments.set(LONG, ProductCode.START_STEP, start.stride());
        int last = n - (panels - 1) * columns();
        arguments.set(LONG, ProductCode.NARROW, last <= lanes ? ProductCode.HALF : last < columns() ? 1 : 0);
        if (last < columns()) {
            VectorCode.writeMasks(lanes, arguments, ProductCode.MASKS, last);
        }
        kernel.call(arguments, a.memory(), b.memory(), c.memory(), start.memory());
    }
}
