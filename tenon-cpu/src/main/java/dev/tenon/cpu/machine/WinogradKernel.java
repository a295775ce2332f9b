package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Winograd's transformations along an axis by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record WinogradKernel(CallableCode six, CallableCode four, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int POINTS = 6;
    private static final int RESULTS = 4;

    /**
     * Groups of rows that follow each other.
     *
     * @param count how many
     * @param x bytes from a group of x to the next, not below zero
     * @param y likewise
     */
    public record Groups(int count, long x, long y) {
        /** A single one. */
        public static final Groups ONE = new Groups(1, 0, 0);
    }

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static WinogradKernel make(int lanes) {
        CallableCode.require(lanes);
        return new WinogradKernel(
                CallableCode.of(WinogradCode.six(lanes)), CallableCode.of(WinogradCode.four(lanes)), lanes);
    }

    /**
     * Six rows of x to six of y, which do not overlap them.
     *
     * @param n floats of a row, at least {@link #lanes}
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void six(Matrix x, Matrix y, int n, Groups groups, MemorySegment arguments) {
        if (groups.count <= 0) {
            return;
        }
        check(x, y, POINTS, n, groups);
        set(x, y, n, groups, arguments);
        six.call(arguments, x.memory(), y.memory(), MemorySegment.NULL, MemorySegment.NULL);
    }

    /**
     * Six rows of x to the first of four of y, which do not overlap them, plus a bias for each element.
     *
     * @param rows of y, 1 to 4
     * @param bias one for all groups; {@link Place#NONE} for none
     * @param n floats of a row, at least {@link #lanes}
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void four(Matrix x, Matrix y, int rows, Place bias, int n, Groups groups, MemorySegment arguments) {
        if (groups.count <= 0) {
            return;
        }
        if (rows < 1 || rows > RESULTS) {
            throw new IllegalArgumentException(rows + " rows are not 1 to " + RESULTS);
        }
        check(x, y, rows, n, groups);
        if (!bias.isNone()) {
            bias.matrix().check(1, 4L * n);
        }
        set(x, y, n, groups, arguments);
        arguments.set(LONG, WinogradCode.BIAS, bias.offset());
        arguments.set(LONG, WinogradCode.BIASED, bias.isNone() ? 0 : 1);
        arguments.set(LONG, WinogradCode.ROWS, rows);
        four.call(arguments, x.memory(), y.memory(), bias.memory(), MemorySegment.NULL);
    }

    private void check(Matrix x, Matrix y, int rows, int n, Groups groups) {
        if (n < lanes) {
            throw new IllegalArgumentException(n + " floats are less than a vector of " + lanes);
        }
        long bytes = 4L * n;
        x.check(POINTS, bytes);
        x.plus(past(groups.count, groups.x)).check(POINTS, bytes);
        y.checkWritable(rows, bytes);
        y.plus(past(groups.count, groups.y)).checkWritable(rows, bytes);
    }

    /** Bytes from the first group to the last. */
    private static long past(int count, long step) {
        if (step < 0 || Math.multiplyHigh(step, count) != 0) {
            throw new IndexOutOfBoundsException(count + " groups " + step + " bytes apart");
        }
        return step * (count - 1);
    }

    private static void set(Matrix x, Matrix y, int n, Groups groups, MemorySegment arguments) {
        long bytes = 4L * n;
        arguments.set(LONG, WinogradCode.X, x.offset());
        arguments.set(LONG, WinogradCode.Y, y.offset());
        arguments.set(LONG, WinogradCode.ROW_BYTES, bytes);
        arguments.set(LONG, WinogradCode.X_STEP, x.stride());
        arguments.set(LONG, WinogradCode.Y_STEP, y.stride());
        arguments.set(LONG, WinogradCode.GROUPS, groups.count);
        arguments.set(LONG, WinogradCode.X_NEXT, groups.x - bytes);
        arguments.set(LONG, WinogradCode.Y_NEXT, groups.y - bytes);
        arguments.set(LONG, WinogradCode.BIAS_NEXT, -bytes);
    }
}
