package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Two numbers of each of many rows of floats by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record RowFoldKernel(Kernel sums, Kernel extremes, Kernel exponentials, CallableCode againstLargest, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final int NEGATIVE_INFINITY = MachineRows.key(Float.NEGATIVE_INFINITY);
    private static final int POSITIVE_INFINITY = MachineRows.key(Float.POSITIVE_INFINITY);

    /** Bytes ahead in rows that lie one behind the other, of several at once and of one alone. */
    private static final long LINES = 256;

    private static final long LINES_ALONE = 512;

    /** Bytes of a row's pair. */
    public static final int PAIR = 8;

    /** Elements of a row that are summed in f32. */
    public static final int MOST = 4096;

    /** For several rows at once, and for one. */
    public record Kernel(CallableCode several, CallableCode one) {
        private static Kernel of(int lanes, RowFoldCode.Kind kind) {
            return new Kernel(
                    CallableCode.of(new RowFoldCode(lanes, kind, RowFoldCode.atOnce(lanes)).make()),
                    CallableCode.of(new RowFoldCode(lanes, kind, 1).make()));
        }
    }

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static RowFoldKernel make(int lanes) {
        CallableCode.require(lanes);
        return new RowFoldKernel(
                Kernel.of(lanes, RowFoldCode.Kind.SUMS),
                Kernel.of(lanes, RowFoldCode.Kind.EXTREMES),
                Kernel.of(lanes, RowFoldCode.Kind.EXPONENTIALS),
                CallableCode.of(new RowFoldCode(lanes, RowFoldCode.Kind.EXPONENTIALS_AGAINST_LARGEST, 1).make()),
                lanes);
    }

    /** Whether rows of so many elements are taken: a vector at least, and at most {@link #MOST}, but for extremes. */
    public boolean takes(long n) {
        return n >= lanes && n <= MOST;
    }

    /**
     * The sum of each row and the sum of its squares, in f32.
     *
     * @param pairs {@link #PAIR} a row
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void sums(int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        moments(rows, n, x, 0, pairs, arguments);
    }

    /** The sum of the differences from a number, and of their squares. */
    public void moments(int rows, int n, Matrix x, float from, Place pairs, MemorySegment arguments) {
        arguments.set(FLOAT, RowCode.SCALARS, from);
        call(sums, rows, n, x, pairs, arguments);
    }

    /** The largest and the smallest of each row as {@link #largest} and {@link #smallest} read them. */
    public void extremes(int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        call(extremes, rows, n, x, pairs, arguments);
    }

    /**
     * A number of each row, the largest or at most 16 below it, and the sum of exponentials against it: NaN of NaN, or
     * of -infinity alone.
     */
    public void exponentials(int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        call(exponentials, rows, n, x, pairs, arguments);
        for (int row = 0; row < rows; row++) {
            long pair = (long) PAIR * row;
            if (Float.isNaN(pairs.memory().get(FLOAT, pairs.offset() + pair + 4))) {
                // a row that begins far below its largest has no sum
                call(againstLargest, 1, n, x.plus(row * x.stride()), pairs.plus(pair), arguments);
            }
        }
    }

    /** What {@link #extremes} found: the largest, NaN where there is one. */
    public static float largest(int mostKey, int leastKey) {
        return leastKey < NEGATIVE_INFINITY || mostKey > POSITIVE_INFINITY ? Float.NaN : MachineRows.value(mostKey);
    }

    /** The same for the smallest. */
    public static float smallest(int mostKey, int leastKey) {
        return leastKey < NEGATIVE_INFINITY || mostKey > POSITIVE_INFINITY ? Float.NaN : MachineRows.value(leastKey);
    }

    /**
     * Takes rows that are far apart side by side, for pages of memory that lie one behind the other are looked up one
     * after another.
     */
    private void call(Kernel kernel, int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        if (rows <= 0) {
            return;
        }
        if (!takes(n) && !(kernel.equals(extremes) && n > MOST)) {
            throw new IllegalArgumentException("rows of " + n + " elements are not of " + lanes + " to " + MOST);
        }
        x.check(rows, 4L * n);
        pairs.checkWritable((long) PAIR * rows);
        int apart = rows / RowFoldCode.atOnce(lanes);
        int done = apart * RowFoldCode.atOnce(lanes);
        if (apart > 0) {
            arguments.set(LONG, RowFoldCode.AHEAD, x.stride() - 4L * n < LINES ? LINES : x.stride());
            call(kernel.several, apart, n, x, pairs, arguments);
        }
        if (done < rows) {
            arguments.set(LONG, RowFoldCode.AHEAD, rows - done == 1 ? LINES_ALONE : x.stride());
            Matrix rest = x.plus(done * x.stride());
            call(kernel.one, rows - done, n, rest, pairs.plus((long) PAIR * done), arguments);
        }
    }

    private void call(CallableCode kernel, int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        arguments.set(LONG, RowCode.X, x.offset());
        arguments.set(LONG, RowCode.Y, pairs.offset());
        arguments.set(LONG, RowCode.N, n);
        arguments.set(LONG, RowFoldCode.ROWS, rows);
        arguments.set(LONG, RowFoldCode.X_STEP, x.stride());
        arguments.set(LONG, RowFoldCode.X_APART, rows * x.stride());
        arguments.set(LONG, RowFoldCode.Y_APART, (long) rows * PAIR);
        int rest = n % lanes;
        arguments.set(LONG, RowFoldCode.BACK, 4L * (rest - lanes));
        if (rest != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, rest);
        }
        kernel.call(arguments, x.memory(), pairs.memory(), MemorySegment.NULL, MemorySegment.NULL);
    }
}
