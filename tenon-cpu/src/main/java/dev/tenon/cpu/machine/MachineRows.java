package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Loops over rows of floats by machine code. Rows of x and y are the same or do not overlap. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record MachineRows(
        CallableCode gelu,
        CallableCode expSum,
        CallableCode expSumStream,
        CallableCode moments,
        CallableCode normalise,
        CallableCode normaliseStream,
        RowFoldKernel folds,
        int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** Of {@link RowFoldKernel#MOST} elements that are taken in one call. */
    private static final int ROWS = 64;

    /** What a thread works with; not shared between threads. */
    public static final class Arguments {
        private final MemorySegment memory;
        private final float[] sums = new float[16];
        private final Place pairs = new Place(Arena.ofAuto().allocate((long) RowFoldKernel.PAIR * ROWS), 0);

        /** @param memory {@link CallableCode#ARGUMENT_BYTES} */
        public Arguments(MemorySegment memory) {
            this.memory = memory;
        }

        public MemorySegment memory() {
            return memory;
        }
    }

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static MachineRows make(int lanes) {
        CallableCode.require(lanes);
        return new MachineRows(
                CallableCode.of(new ExponentialCode.Gelu(lanes).make()),
                CallableCode.of(new ExponentialCode.ExpSum(lanes, false).make()),
                CallableCode.of(new ExponentialCode.ExpSum(lanes, true).make()),
                CallableCode.of(new RowCode.Moments(lanes).make()),
                CallableCode.of(new RowCode.Normalise(lanes, false).make()),
                CallableCode.of(new RowCode.Normalise(lanes, true).make()),
                RowFoldKernel.make(lanes),
                lanes);
    }

    /** y = x (1 + erf(x / √2)) / 2. */
    public void gelu(Place x, Place y, int n, Arguments arguments) {
        if (n > 0) {
            write(gelu, x, y, n, Place.NONE, Place.NONE, arguments);
        }
    }

    /**
     * y = e^(x - shift); returns the sum of at most a few thousand.
     *
     * @param stream whether y goes past the caches, where it is aligned
     */
    public double expSum(Place x, float shift, Place y, int n, boolean stream, Arguments arguments) {
        if (n <= 0) {
            return 0;
        }
        arguments.memory.set(FLOAT, RowCode.SCALARS, shift);
        write(stream && isAligned(y) ? expSumStream : expSum, x, y, n, Place.NONE, Place.NONE, arguments);
        return sum(arguments, 0);
    }

    /** The sum of at most a few thousand. */
    public double sum(Place x, int n, Arguments arguments) {
        if (n <= 0) {
            return 0;
        }
        arguments.memory.set(FLOAT, RowCode.SCALARS, 0);
        call(moments, x, Place.NONE, n, Place.NONE, Place.NONE, arguments);
        return sum(arguments, 0);
    }

    /** Writes two doubles: the sum of x - shift, of at most a few thousand, and the sum of its squares. */
    public void moments(Place x, int n, float shift, MemorySegment to, long toOffset, Arguments arguments) {
        boolean any = n > 0;
        if (any) {
            arguments.memory.set(FLOAT, RowCode.SCALARS, shift);
            call(moments, x, Place.NONE, n, Place.NONE, Place.NONE, arguments);
        }
        to.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, toOffset, any ? sum(arguments, 0) : 0);
        to.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, toOffset + 8, any ? sum(arguments, 64) : 0);
    }

    /**
     * Takes as many whole rows of {@link RowFoldKernel#MOST} as there are, if more than one; returns how many elements.
     * Adds to two doubles the sum of x - shift and that of its squares.
     */
    public long addMoments(Place x, long n, float shift, MemorySegment to, long toOffset, Arguments arguments) {
        long rows = n / RowFoldKernel.MOST;
        if (rows < 2) {
            return 0;
        }
        long bytes = 4L * RowFoldKernel.MOST;
        double sum = to.get(DOUBLE, toOffset);
        double squares = to.get(DOUBLE, toOffset + 8);
        for (long row = 0; row < rows; row += ROWS) {
            int count = (int) Math.min(ROWS, rows - row);
            Matrix part = new Matrix(x.memory(), x.offset() + row * bytes, bytes);
            folds.moments(count, RowFoldKernel.MOST, part, shift, arguments.pairs, arguments.memory);
            for (int i = 0; i < count; i++) {
                sum += arguments.pairs.memory().get(FLOAT, (long) RowFoldKernel.PAIR * i);
                squares += arguments.pairs.memory().get(FLOAT, (long) RowFoldKernel.PAIR * i + 4);
            }
        }
        to.set(DOUBLE, toOffset, sum);
        to.set(DOUBLE, toOffset + 8, squares);
        return rows * RowFoldKernel.MOST;
    }

    /** The largest, NaN where there is one. */
    public float largest(Place x, int n, Arguments arguments) {
        return extreme(true, x, n, arguments);
    }

    /** The smallest, NaN where there is one. */
    public float smallest(Place x, int n, Arguments arguments) {
        return extreme(false, x, n, arguments);
    }

    private float extreme(boolean largest, Place x, int n, Arguments arguments) {
        if (n >= lanes) {
            MemorySegment memory = arguments.memory;
            folds.extremes(1, n, x.matrix(), new Place(memory, RowCode.SUMS + 64), memory);
            int most = memory.get(INT, RowCode.SUMS + 64);
            int least = memory.get(INT, RowCode.SUMS + 68);
            return largest ? RowFoldKernel.largest(most, least) : RowFoldKernel.smallest(most, least);
        }
        float found = largest ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY;
        for (int i = 0; i < n; i++) {
            float value = x.memory().get(FLOAT, x.offset() + 4L * i);
            found = largest ? Math.max(found, value) : Math.min(found, value);
        }
        return found;
    }

    /** Bits of a float as an integer that compares as floats do. */
    static int key(float value) {
        int bits = Float.floatToRawIntBits(value);
        return bits ^ bits >> 31 & Integer.MAX_VALUE;
    }

    /** The float of a {@link #key}. */
    static float value(int key) {
        return Float.intBitsToFloat(key ^ key >> 31 & Integer.MAX_VALUE);
    }

    /**
     * y = affine(x) scale + bias; {@link Place#NONE} for no scale, and for no bias. A bias wants a scale.
     *
     * @param stream whether y goes past the caches, where it is aligned
     */
    public void normalise(
            Place x, Place y, int n, NormFactors affine, Place scale, Place bias, boolean stream, Arguments arguments) {
        if (n <= 0) {
            return;
        }
        MemorySegment memory = arguments.memory;
        memory.set(FLOAT, RowCode.SCALARS, affine.mean());
        memory.set(FLOAT, RowCode.SCALARS + 4, affine.factor());
        memory.set(FLOAT, RowCode.SCALARS + 8, affine.addend());
        memory.set(LONG, RowCode.PARAMETERS, scale.isNone() ? 0 : bias.isNone() ? 1 : 2);
        write(stream && isAligned(y) ? normaliseStream : normalise, x, y, n, scale, bias, arguments);
    }

    private boolean isAligned(Place y) {
        return (y.memory().address() + y.offset()) % (4L * lanes) == 0;
    }

    /** Calls a kernel that writes y. */
    private void write(CallableCode kernel, Place x, Place y, int n, Place scale, Place bias, Arguments arguments) {
        y.checkWritable(4L * n);
        call(kernel, x, y, n, scale, bias, arguments);
    }

    /** Checks all rows but y, which not every kernel writes, and calls. */
    private void call(CallableCode kernel, Place x, Place y, int n, Place scale, Place bias, Arguments arguments) {
        long bytes = 4L * n;
        x.check(bytes);
        if (!scale.isNone()) {
            scale.check(bytes);
        }
        if (!bias.isNone()) {
            bias.check(bytes);
        }
        MemorySegment memory = arguments.memory;
        memory.set(LONG, RowCode.X, x.offset());
        memory.set(LONG, RowCode.Y, y.offset());
        memory.set(LONG, RowCode.SCALE, scale.offset());
        memory.set(LONG, RowCode.BIAS, bias.offset());
        memory.set(LONG, RowCode.N, n);
        if (n % lanes != 0) {
            VectorCode.writeMasks(lanes, memory, RowCode.MASKS, n % lanes);
        }
        kernel.call(memory, x.memory(), y.memory(), scale.memory(), bias.memory());
    }

    private double sum(Arguments arguments, long which) {
        MemorySegment.copy(arguments.memory, FLOAT, RowCode.SUMS + which, arguments.sums, 0, lanes);
        double sum = 0;
        for (int lane = 0; lane < lanes; lane++) {
            sum += arguments.sums[lane];
        }
        return sum;
    }
}
