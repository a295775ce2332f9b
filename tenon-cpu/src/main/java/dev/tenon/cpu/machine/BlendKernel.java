package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Weighted sums of rows of floats by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record BlendKernel(CallableCode kernel, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static BlendKernel make(int lanes) {
        CallableCode.require(lanes);
        return new BlendKernel(CallableCode.of(new BlendCode(lanes).make()), lanes);
    }

    /**
     * Each row of y becomes the sum of its taps, added in their order from zero on; x and y do not overlap.
     *
     * @param n floats of a row
     * @param x where the first row is; {@code taps} know the others
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void run(BlendTaps taps, int n, Place x, Matrix y, MemorySegment arguments) {
        if (taps.results == 0 || n <= 0) {
            return;
        }
        long bytes = 4L * n;
        if (taps.last >= 0) {
            new Matrix(x.memory(), x.offset(), taps.last).check(2, bytes);
        }
        y.checkWritable(taps.results, bytes);
        arguments.set(LONG, BlendCode.X, x.offset());
        arguments.set(LONG, BlendCode.Y, y.offset());
        arguments.set(LONG, BlendCode.TAPS, 0);
        arguments.set(LONG, BlendCode.N, n);
        arguments.set(LONG, BlendCode.Y_STEP, y.stride());
        arguments.set(LONG, BlendCode.RESULTS, taps.results);
        if (n % lanes != 0) {
            VectorCode.writeMasks(lanes, arguments, BlendCode.MASKS, n % lanes);
        }
        kernel.call(arguments, x.memory(), y.memory(), taps.memory, MemorySegment.NULL);
    }
}
