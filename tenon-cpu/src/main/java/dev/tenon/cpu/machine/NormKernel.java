package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * LayerNorm and RmsNorm over rows of floats by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record NormKernel(CallableCode kernel, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    /**
     * What is computed.
     *
     * @param rows how many
     * @param n elements of each, at most a few thousand: they are summed in f32
     * @param rms whether the mean is taken as 0
     * @param stream whether results go past the caches, where their rows are aligned and whole vectors
     */
    public record Form(int rows, int n, float epsilon, boolean rms, boolean stream) {}

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static NormKernel make(int lanes) {
        CallableCode.require(lanes);
        return new NormKernel(CallableCode.of(new NormRowsCode(lanes).make()), lanes);
    }

    /**
     * Computes rows until all are done, or the next one has a deviation, or a reciprocal of it, that is no finite f32;
     * returns how many are done.
     *
     * @param y the same rows as x, or others
     * @param scale a row for all; {@link Place#NONE} for none, as for bias, which wants a scale
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public int run(Form form, Matrix x, Matrix y, Place scale, Place bias, MemorySegment arguments) {
        if (form.rows <= 0 || form.n <= 0) {
            return Math.max(form.rows, 0);
        }
        long bytes = 4L * form.n;
        x.check(form.rows, bytes);
        y.checkWritable(form.rows, bytes);
        if (!scale.isNone()) {
            scale.check(bytes);
        }
        if (!bias.isNone()) {
            bias.check(bytes);
        }
        arguments.set(LONG, RowCode.X, x.offset());
        arguments.set(LONG, RowCode.Y, y.offset());
        arguments.set(LONG, RowCode.SCALE, scale.offset());
        arguments.set(LONG, RowCode.BIAS, bias.offset());
        arguments.set(LONG, RowCode.N, form.n);
        arguments.set(FLOAT, RowCode.SCALARS, 1f / form.n);
        arguments.set(FLOAT, RowCode.SCALARS + 4, form.epsilon);
        arguments.set(LONG, RowCode.PARAMETERS, scale.isNone() ? 0 : bias.isNone() ? 1 : 2);
        arguments.set(LONG, NormRowsCode.ROWS, form.rows);
        arguments.set(LONG, NormRowsCode.X_STEP, x.stride());
        arguments.set(LONG, NormRowsCode.Y_STEP, y.stride());
        arguments.set(LONG, NormRowsCode.RMS, form.rms ? 1 : 0);
        boolean stream = form.stream && y.isWholeVectors(bytes, 4L * lanes);
        arguments.set(LONG, NormRowsCode.STREAM, stream ? 1 : 0);
        if (form.n % lanes != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, form.n % lanes);
        }
        kernel.call(arguments, x.memory(), y.memory(), scale.memory(), bias.memory());
        return form.rows - (int) arguments.get(LONG, NormRowsCode.ROWS);
    }
}
