package dev.tenon.cpu.machine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;

/**
 * Products of f32 matrices by code of our own, made for this processor when the process first asks. It runs at full
 * speed from the first call on, where Java's loops have to be compiled first. A record, so that compiled Java calls the
 * code without looking it up.
 *
 * <p>Thread-safe.
 *
 * @param lanes floats of a vector; a panel of B has two vectors of columns
 */
public record ProductKernel(MethodHandle code, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** Of the memory that {@link #run} wants for its arguments. */
    public static final int ARGUMENT_BYTES = ProductCode.ARGUMENT_BYTES;

    /**
     * The kernel with vectors of that many floats.
     *
     * @param lanes 16, 8, or 0 for as many as the processor has
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static ProductKernel make(int lanes) {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String architecture = System.getProperty("os.arch", "");
        if (!system.contains("linux") || !(architecture.equals("amd64") || architecture.equals("x86_64"))) {
            throw new IllegalStateException("it is for Linux on x86-64; this is " + system + " on " + architecture);
        }
        if (!ProductKernel.class.getModule().isNativeAccessEnabled()) {
            throw new IllegalStateException("start Java with --enable-native-access=ALL-UNNAMED (or dev.tenon.cpu)");
        }
        Processor here = Processor.here();
        int width = lanes != 0 ? lanes : here.avx512() ? 16 : 8;
        if (width == 16 ? !here.avx512() : width != 8 || !here.avx2()) {
            throw new IllegalStateException("the processor has no vectors of " + width + " floats");
        }
        byte[] code = ProductCode.of(width == 16 ? VectorCode.Avx512::new : VectorCode.Avx2::new);
        return new ProductKernel(
                ExecutableMemory.function(
                        ExecutableMemory.place(code),
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS),
                width);
    }

    /** Columns of a panel. */
    public int columns() {
        return 2 * lanes;
    }

    /**
     * A matrix, or panels of one.
     *
     * @param memory outside the heap
     * @param offset of the first element, in bytes
     * @param stride from a row (a panel) to the next, in bytes
     */
    public record Matrix(MemorySegment memory, long offset, long stride) {
        /** No matrix: sums begin at zero. */
        public static final Matrix NONE = new Matrix(MemorySegment.NULL, 0, 0);
    }

    /**
     * C[m, n] = start + A[m, k] B.
     *
     * @param b panels of {@link #columns} columns, zero past the last
     * @param start an m by n matrix, which may be C; with a stride of zero one row for all; or {@link Matrix#NONE}
     * @param arguments {@link #ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if a matrix does not lie within its memory
     */
    public void run(int m, int n, int k, Matrix a, Matrix b, Matrix c, Matrix start, MemorySegment arguments) {
        if (m <= 0 || n <= 0) {
            return;
        }
        long row = 4L * n;
        int panels = Math.ceilDiv(n, columns());
        check(a, m, 4L * k);
        check(b, panels, 4L * k * columns());
        check(c, m, row);
        boolean begins = start.memory.address() != 0;
        if (begins) {
            check(start, m, row);
        }
        if (c.memory.isReadOnly()) {
            throw new IllegalArgumentException("the result's memory is read-only");
        }
        arguments.set(LONG, ProductCode.M, m);
        arguments.set(LONG, ProductCode.K, k);
        arguments.set(LONG, ProductCode.PANELS, panels);
        arguments.set(LONG, ProductCode.A, a.offset);
        arguments.set(LONG, ProductCode.LDA, a.stride);
        arguments.set(LONG, ProductCode.B, b.offset);
        arguments.set(LONG, ProductCode.B_STEP, b.stride);
        arguments.set(LONG, ProductCode.C, c.offset);
        arguments.set(LONG, ProductCode.LDC, c.stride);
        arguments.set(LONG, ProductCode.START, begins ? start.offset : 0);
        arguments.set(LONG, ProductCode.START_STEP, start.stride);
        int last = n - (panels - 1) * columns();
        arguments.set(LONG, ProductCode.NARROW, last < columns() ? 1 : 0);
        if (last < columns()) {
            masks(arguments, last);
        }
        try {
            code.invokeExact(arguments, a.memory, b.memory, c.memory, start.memory);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // the code throws nothing
        }
    }

    private void masks(MemorySegment arguments, int columns) {
        if (lanes == 16) {
            int bits = (1 << columns) - 1; // fewer than 32
            arguments.set(INT, ProductCode.MASKS, bits & 0xFFFF);
            arguments.set(INT, ProductCode.MASKS + 4, bits >>> 16);
            return;
        }
        for (int lane = 0; lane < 2 * lanes; lane++) {
            arguments.set(INT, ProductCode.MASKS + 4L * lane, lane < columns ? -1 : 0);
        }
    }

    /** That so many rows of so many bytes lie within the memory. */
    private static void check(Matrix matrix, long rows, long bytes) {
        long reach = Math.addExact(Math.multiplyExact(rows - 1, matrix.stride), bytes);
        if (matrix.offset < 0 || matrix.stride < 0 || matrix.offset > matrix.memory.byteSize() - reach) {
            throw new IndexOutOfBoundsException(rows + " rows of " + bytes + " bytes, " + matrix.stride
                    + " apart from byte " + matrix.offset + ", are not within " + matrix.memory.byteSize() + " bytes");
        }
    }
}
