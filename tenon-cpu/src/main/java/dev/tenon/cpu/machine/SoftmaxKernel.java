package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * y = softmax(x scale + mask) over rows of floats by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record SoftmaxKernel(CallableCode kernel, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    /** The most elements of a row. */
    public static final int MOST = 1 << 16;

    /**
     * What is computed.
     *
     * @param rows how many
     * @param n elements of each, at most {@link #MOST}: they are summed in f32
     * @param scale of x, before the mask
     * @param guarded whether results that are NaN become 0
     * @param stream whether results go past the caches, where their rows are aligned and whole vectors
     */
    public record Form(int rows, int n, float scale, boolean guarded, boolean stream) {
        /** Plain softmax of so many rows. */
        public static Form plain(int rows, int n) {
            return new Form(rows, n, 1, false, false);
        }
    }

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static SoftmaxKernel make(int lanes) {
        CallableCode.require(lanes);
        return new SoftmaxKernel(CallableCode.of(new SoftmaxCode(lanes).make()), lanes);
    }

    /**
     * Computes all rows.
     *
     * @param mask added to the scaled elements; {@link Matrix#NONE} for none
     * @param work rows that hold what comes between, x's or y's or one for all
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void run(Form form, Matrix x, Matrix mask, Matrix work, Matrix y, MemorySegment arguments) {
        if (form.rows <= 0 || form.n <= 0) {
            return;
        }
        long bytes = 4L * form.n;
        boolean masked = !mask.isNone();
        x.check(form.rows, bytes);
        work.checkWritable(form.rows, bytes);
        y.checkWritable(form.rows, bytes);
        if (masked) {
            mask.check(form.rows, bytes);
        }
        boolean stream = form.stream && y.isWholeVectors(bytes, 4L * lanes);
        place(arguments, 0, x);
        place(arguments, 1, work);
        place(arguments, 2, mask);
        place(arguments, 3, y);
        arguments.set(LONG, RowCode.N, form.n);
        arguments.set(LONG, SoftmaxCode.ROWS, form.rows);
        arguments.set(FLOAT, RowCode.SCALARS, form.scale);
        arguments.set(LONG, RowCode.PARAMETERS, masked ? 1 : 0);
        int way = form.guarded ? SoftmaxCode.GUARDED : stream ? SoftmaxCode.STREAM : SoftmaxCode.PLAIN;
        arguments.set(LONG, SoftmaxCode.WAY, way);
        int rest = form.n % lanes;
        if (rest != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, rest);
            for (int lane = 0; lane < lanes; lane++) {
                arguments.set(FLOAT, SoftmaxCode.REST + 4L * lane, lane < rest ? 0 : Float.NEGATIVE_INFINITY);
            }
        }
        kernel.call(arguments, x.memory(), work.memory(), mask.memory(), y.memory());
    }

    private static void place(MemorySegment arguments, int which, Matrix rows) {
        arguments.set(LONG, RowCode.X + 8L * which, rows.offset());
        arguments.set(LONG, SoftmaxCode.STEPS + 8L * which, rows.stride());
    }
}
