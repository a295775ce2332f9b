package dev.tenon.cpu.machine;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What lanes of floats that lie side by side give, by machine code: running sums and products, and the best few of
 * each. Rows hold an element of each lane. Thread-safe.
 */
public final class LaneKernel {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** Lanes of a vector; others are left to the caller. */
    public static final int LANES = 16;

    /** The most of {@link #best}. */
    public static final int MOST_BEST = 8;

    private static final int LINE = 64;

    private static final List<Made> RUNNING = IntStream.range(0, 8)
            .mapToObj(form -> new Made(() -> new LaneCode.Running(form).make()))
            .toList();

    /** Of the largest, then of the smallest. */
    private static final List<Made> BEST = IntStream.range(0, 2 * MOST_BEST)
            .mapToObj(i -> new Made(() -> new LaneCode.Best(i % MOST_BEST + 1, i < MOST_BEST).make()))
            .toList();

    private LaneKernel() {}

    /** Code, when it is made. */
    @FunctionalInterface
    private interface Source {
        byte[] make();
    }

    /** Made when it is asked for: a process needs few of them. */
    private static final class Made extends Lazy<CallableCode> {
        private final Source source;

        Made(Source source) {
            this.source = source;
        }

        @Override
        protected CallableCode make() {
            return CallableCode.of(source.make());
        }
    }

    /**
     * What is summed up or multiplied, in float64, and rounded for each element.
     *
     * @param exclusive whether an element itself does not count
     * @param reverse whether the last row is the first
     * @param past whether results go past the caches, where they are aligned
     */
    public record Form(boolean sum, boolean exclusive, boolean reverse, boolean past) {}

    /**
     * Writes running totals.
     *
     * @param rows at least one
     * @param n lanes, a multiple of {@link #LANES}
     * @param y as far from row to row as x
     * @param totals n doubles, at first 0 or 1
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public static void running(Form form, long rows, int n, Matrix x, Matrix y, Place totals, MemorySegment arguments) {
        if (n % LANES != 0 || x.stride() != y.stride()) {
            throw new IllegalArgumentException(n + " lanes are not whole vectors, or their rows not as far apart");
        }
        if (rows <= 0 || n <= 0) {
            return;
        }
        CallableCode.require(8);
        x.check(rows, 4L * n);
        y.checkWritable(rows, 4L * n);
        totals.checkWritable(8L * n);
        boolean past = form.past && y.isWholeVectors(4L * n, LINE);
        long first = form.reverse ? (rows - 1) * x.stride() : 0;
        arguments.set(LONG, LaneCode.X, x.offset() + first);
        arguments.set(LONG, LaneCode.Y, y.offset() + first);
        arguments.set(LONG, LaneCode.KEPT, totals.offset());
        arguments.set(LONG, LaneCode.N, n);
        arguments.set(LONG, LaneCode.ROWS, rows);
        arguments.set(LONG, LaneCode.STEP, form.reverse ? -x.stride() : x.stride());
        arguments.set(LONG, LaneCode.NEXT_AHEAD, LaneCode.nextAhead(n, form.reverse ? -x.stride() : x.stride()));
        int which = (form.sum ? 1 : 0) + (form.exclusive ? 2 : 0) + (past ? 4 : 0);
        RUNNING.get(which).get().call(arguments, x.memory(), y.memory(), totals.memory(), MemorySegment.NULL);
    }

    /** Whether {@link #best} runs here. */
    public static boolean hasBest() {
        return Processor.HERE.avx512();
    }

    /**
     * Finds the best of each lane and their rows, best first, the lower row first of equals. NaN counts as the largest.
     *
     * @param count how many, from 1 to {@link #MOST_BEST}
     * @param rows fewer than 2^31
     * @param n lanes, a multiple of {@link #LANES}
     * @param found for each of those many a row of n integers, keys, and behind them as many rows of numbers of rows
     */
    public static void best(
            int count, boolean largest, int rows, int n, Matrix x, Place found, MemorySegment arguments) {
        if (count < 1 || count > MOST_BEST || n % LANES != 0) {
            throw new IllegalArgumentException("best " + count + " of " + n + " lanes: expected 1 to " + MOST_BEST
                    + " of whole vectors of " + LANES);
        }
        if (n <= 0) {
            return;
        }
        CallableCode.require(LANES);
        x.check(rows, 4L * n);
        found.checkWritable(8L * n * count);
        for (long i = 0; i < (long) n * count; i++) {
            found.memory().set(INT, found.offset() + 4 * i, Integer.MIN_VALUE);
        }
        arguments.set(LONG, LaneCode.X, x.offset());
        arguments.set(LONG, LaneCode.KEPT, found.offset());
        arguments.set(LONG, LaneCode.N, n);
        arguments.set(LONG, LaneCode.ROWS, rows);
        arguments.set(LONG, LaneCode.STEP, x.stride());
        arguments.set(LONG, LaneCode.KEPT_STEP, 4L * n);
        arguments.set(LONG, LaneCode.WORST, 4L * n * (count - 1));
        arguments.set(LONG, LaneCode.NEXT_AHEAD, LaneCode.nextAhead(n, x.stride()));
        arguments.set(INT, LaneCode.FLIP, largest ? 0 : -1);
        arguments.set(INT, LaneCode.NUMBER, 0);
        if (rows > 0) {
            BEST.get(count - 1 + (largest ? 0 : MOST_BEST))
                    .get()
                    .call(arguments, x.memory(), MemorySegment.NULL, found.memory(), MemorySegment.NULL);
        }
    }
}
