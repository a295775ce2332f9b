package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Loops over the columns of rows of floats by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record ColumnKernel(
        CallableCode expSums,
        CallableCode keptExpSums,
        CallableCode scale,
        CallableCode scaleStream,
        @Nullable CallableCode few,
        @Nullable CallableCode fewStream,
        CallableCode sums,
        CallableCode extremes,
        CallableCode places,
        CallableCode reciprocals,
        CallableCode softmax,
        CallableCode logSoftmax,
        int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** Rows ahead of those in work whose lines are asked for, where rows are too short for the processor to do so. */
    private static final int AHEAD = 24;

    /** Bytes ahead otherwise: the processor looks ahead within a page alone. */
    private static final long LINES = 256;

    /** Rows at once. */
    private static final int AT_ONCE = ColumnCode.Grouped.MOST;

    /** Bytes of a row up to which it is short. */
    private static final long SHORT = 1024;

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static ColumnKernel make(int lanes) {
        CallableCode.require(lanes);
        return new ColumnKernel(
                CallableCode.of(new ColumnSoftmaxCode.ExpSums(lanes, false).make()),
                CallableCode.of(new ColumnSoftmaxCode.ExpSums(lanes, true).make()),
                CallableCode.of(new ColumnSoftmaxCode.Scale(lanes, false).make()),
                CallableCode.of(new ColumnSoftmaxCode.Scale(lanes, true).make()),
                lanes == 16 ? CallableCode.of(new ColumnSoftmaxCode.Few(false).make()) : null,
                lanes == 16 ? CallableCode.of(new ColumnSoftmaxCode.Few(true).make()) : null,
                CallableCode.of(new ColumnCode.Sums(lanes).make()),
                CallableCode.of(new ColumnCode.Extremes(lanes).make()),
                CallableCode.of(new ColumnCode.Places(lanes).make()),
                CallableCode.of(new ColumnCode.Reciprocals(lanes).make()),
                CallableCode.of(new ColumnSoftmaxCode.Write(lanes, false).make()),
                CallableCode.of(new ColumnSoftmaxCode.Write(lanes, true).make()),
                lanes);
    }

    /**
     * Takes rows into the largest of each column and the sum of exponentials against it, of at most a few thousand. A
     * NaN makes its column's sum one, and may leave the largest as it is.
     *
     * @param n floats of a row
     * @param largest a row of finite numbers before the first call
     * @param sums a row
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void expSums(int rows, int n, Matrix x, Place largest, Place sums, MemorySegment arguments) {
        if (rows > 0 && n > 0) {
            sums.checkWritable(4L * n);
            largest.checkWritable(4L * n);
            callApart(expSums, rows, n, x, largest, sums, arguments);
        }
    }

    /** The most rows that {@link #few} takes; 0 where it takes none. */
    public int mostFew() {
        return few == null ? 0 : ColumnSoftmaxCode.Few.MOST;
    }

    /** The softmax of columns of few rows, x and y alike in their steps. */
    public void few(Form form, Matrix x, Matrix y, MemorySegment arguments) {
        if (form.rows > mostFew() || x.stride() != y.stride()) {
            throw new IllegalArgumentException(
                    form.rows + " rows are more than " + mostFew() + ", or not as far apart");
        }
        if (form.rows <= 0 || form.n <= 0) {
            return;
        }
        y.checkWritable(form.rows, 4L * form.n);
        boolean stream = form.stream && y.isWholeVectors(4L * form.n, 4L * lanes);
        CallableCode kernel = Objects.requireNonNull(stream ? fewStream : few);
        call(kernel, form.rows, form.n, x, y, Place.NONE, Place.NONE, arguments);
    }

    /** The bytes that exponentials of so many rows are kept in. */
    public static long keptBytes(int rows, int n) {
        long vectors = Math.ceilDiv(n, 16) * 2L; // at least: those of 8 floats are as many, or one less
        return 32 * vectors * (rows + Math.ceilDiv(rows, ColumnCode.Grouped.MOST));
    }

    /**
     * The same, and keeps the exponentials.
     *
     * @param kept {@link #keptBytes}
     */
    public void keptExpSums(int rows, int n, Matrix x, Place kept, Place largest, Place sums, MemorySegment arguments) {
        if (rows > 0 && n > 0) {
            kept.checkWritable(keptBytes(rows, n));
            sums.checkWritable(4L * n);
            largest.checkWritable(4L * n);
            call(keptExpSums, rows, n, x, kept.matrix(), largest, sums, arguments);
        }
    }

    /** Writes exponentials that are kept, against the largest of each column, times its factor. */
    public void scale(Form form, Place kept, Place largest, Place factors, Matrix y, MemorySegment arguments) {
        if (form.rows <= 0 || form.n <= 0) {
            return;
        }
        kept.check(keptBytes(form.rows, form.n));
        y.checkWritable(form.rows, 4L * form.n);
        largest.check(4L * form.n);
        factors.check(4L * form.n);
        boolean stream = form.stream && y.isWholeVectors(4L * form.n, 4L * lanes);
        CallableCode kernel = stream ? scaleStream : scale;
        call(kernel, form.rows, form.n, y, kept.matrix(), largest, factors, arguments);
    }

    /** Adds rows to the sums of their columns, of at most a few thousand; the rest is as above. */
    public void sums(int rows, int n, Matrix x, Place sums, MemorySegment arguments) {
        if (rows > 0 && n > 0) {
            sums.checkWritable(4L * n);
            callApart(this.sums, rows, n, x, sums, Place.NONE, arguments);
        }
    }

    /**
     * Takes rows into the largest and the smallest of each column, as {@link RowFoldKernel#largest} reads them.
     *
     * @param most keys, {@link Integer#MIN_VALUE} before the first call
     * @param least keys, {@link Integer#MAX_VALUE} before the first call
     */
    public void extremes(int rows, int n, Matrix x, Place most, Place least, MemorySegment arguments) {
        if (rows > 0 && n > 0) {
            most.checkWritable(4L * n);
            least.checkWritable(4L * n);
            callApart(extremes, rows, n, x, most, least, arguments);
        }
    }

    /** The best key of no rows. */
    public static final int NO_KEY = Integer.MIN_VALUE + 1;

    /**
     * Finds the rows of the extremes of columns: NaN is the best of all, the first or the last of equals wins.
     *
     * @param keys of the best, to be compared as integers; {@link #NO_KEY} before the call
     * @param rows their rows, counted from 0; zeros before the call
     */
    public void places(Search search, int count, int n, Matrix x, Place keys, Place rows, MemorySegment arguments) {
        if (count > 0 && n > 0) {
            keys.checkWritable(4L * n);
            rows.checkWritable(4L * n);
            arguments.set(INT, ColumnCode.NUMBER, 0);
            arguments.set(INT, ColumnCode.FLIP, search.largest ? 0 : -1);
            arguments.set(INT, ColumnCode.LATER, search.last ? -1 : 0);
            call(places, count, n, x, Matrix.NONE, keys, rows, arguments);
        }
    }

    /** Which extreme, and which of equals. */
    public record Search(boolean largest, boolean last) {}

    /** Numbers become their reciprocals. */
    public void reciprocals(int n, Place row, MemorySegment arguments) {
        if (n > 0) {
            row.checkWritable(4L * n);
            call(reciprocals, 1, n, row.matrix(), Matrix.NONE, Place.NONE, row, arguments);
        }
    }

    /**
     * What is written: e^(x - largest) times a factor, or x less the largest and a logarithm.
     *
     * @param rows how many
     * @param n floats of each
     * @param stream whether results go past the caches, where their rows are aligned and whole vectors
     */
    public record Form(int rows, int n, boolean log, boolean stream) {}

    /** Writes y from the largest of each column and its factor or logarithm. */
    public void write(Form form, Matrix x, Place largest, Place factors, Matrix y, MemorySegment arguments) {
        if (form.rows <= 0 || form.n <= 0) {
            return;
        }
        long bytes = 4L * form.n;
        y.checkWritable(form.rows, bytes);
        largest.check(bytes);
        factors.check(bytes);
        arguments.set(LONG, ColumnCode.STREAM, form.stream && y.isWholeVectors(bytes, 4L * lanes) ? 1 : 0);
        x.check(form.rows, bytes);
        boolean apart = x.stride() >= bytes + LINES && bytes > SHORT; // then the next row comes during this one
        long ahead = apart ? x.stride() : ahead(form.rows, form.n, x);
        set(form.rows, form.n, x.stride(), y.stride(), 0, ahead, arguments);
        call(form.log ? logSoftmax : softmax, form.n, x, y, largest, factors, arguments);
    }

    /**
     * Calls with rows that are far apart side by side, for pages of memory that lie one behind the other are looked up
     * one after another: eight streams read 1.4 times as fast as one.
     */
    private void callApart(CallableCode kernel, int rows, int n, Matrix x, Place a, Place b, MemorySegment arguments) {
        x.check(rows, 4L * n);
        int apart = rows / AT_ONCE - (rows / AT_ONCE + 1) % 2; // odd: an even number of rows may be a power of two
        int done = 0;
        if (apart > 1) {
            done = apart * AT_ONCE;
            long ahead = x.stride() == 4L * n ? LINES : 4L * n > SHORT ? LINES : AHEAD / AT_ONCE * x.stride();
            set(done, n, apart * x.stride(), 0, x.stride(), ahead, arguments);
            call(kernel, n, x, Matrix.NONE, a, b, arguments);
        }
        if (done < rows) {
            call(kernel, rows - done, n, x.plus(done * x.stride()), Matrix.NONE, a, b, arguments);
        }
    }

    /** Checks x and calls. */
    private void call(
            CallableCode kernel, int rows, int n, Matrix x, Matrix y, Place a, Place b, MemorySegment arguments) {
        x.check(rows, 4L * n);
        set(rows, n, x.stride(), y.stride(), AT_ONCE * x.stride(), ahead(rows, n, x), arguments);
        call(kernel, n, x, y, a, b, arguments);
    }

    /** How far ahead lines are asked for. */
    private static long ahead(int rows, int n, Matrix x) {
        boolean ask = 4L * n <= SHORT && rows >= 2 * AHEAD && x.stride() > SHORT;
        return ask ? AHEAD * x.stride() : 4L * n > SHORT ? LINES : 0;
    }

    private static void set(int rows, int n, long xStep, long yStep, long next, long ahead, MemorySegment arguments) {
        arguments.set(LONG, RowCode.N, n);
        arguments.set(LONG, ColumnCode.ROWS, rows);
        arguments.set(LONG, ColumnCode.X_STEP, xStep);
        arguments.set(LONG, ColumnCode.Y_STEP, yStep);
        arguments.set(LONG, ColumnCode.NEXT, next);
        arguments.set(LONG, ColumnCode.AHEAD, ahead);
        boolean apart = ahead == LINES && next != 4L * n;
        arguments.set(LONG, ColumnCode.LAST, apart ? 4L * n - LINES : Long.MAX_VALUE);
        arguments.set(LONG, ColumnCode.NEXT_AHEAD, next + LINES - 4L * n);
    }

    private void call(CallableCode kernel, int n, Matrix x, Matrix y, Place a, Place b, MemorySegment arguments) {
        arguments.set(LONG, RowCode.X, x.offset());
        arguments.set(LONG, RowCode.Y, y.offset());
        arguments.set(LONG, RowCode.SCALE, a.offset());
        arguments.set(LONG, RowCode.BIAS, b.offset());
        if (n % lanes != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, n % lanes);
        }
        kernel.call(arguments, x.memory(), y.memory(), a.memory(), b.memory());
    }
}
