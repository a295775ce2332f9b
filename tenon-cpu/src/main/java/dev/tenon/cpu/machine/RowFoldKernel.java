package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Two numbers of each of many rows of floats by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record RowFoldKernel(CallableCode sums, CallableCode extremes, CallableCode exponentials, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int NEGATIVE_INFINITY = MachineRows.key(Float.NEGATIVE_INFINITY);
    private static final int POSITIVE_INFINITY = MachineRows.key(Float.POSITIVE_INFINITY);

    /** Bytes ahead in a single row. */
    private static final long LINES = 512;

    /** Bytes of a row's pair. */
    public static final int PAIR = 8;

    /** Elements of a row that are summed in f32. */
    public static final int MOST = 4096;

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static RowFoldKernel make(int lanes) {
        CallableCode.require(lanes);
        return new RowFoldKernel(
                CallableCode.of(new Code(lanes, Code.Kind.SUMS).make()),
                CallableCode.of(new Code(lanes, Code.Kind.EXTREMES).make()),
                CallableCode.of(new Code(lanes, Code.Kind.EXPONENTIALS).make()),
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
        call(sums, rows, n, x, pairs, arguments);
    }

    /** The largest and the smallest of each row as {@link #largest} and {@link #smallest} read them. */
    public void extremes(int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        call(extremes, rows, n, x, pairs, arguments);
    }

    /** The largest of each row and the sum of exponentials against it: NaN of NaN, or of -infinity alone. */
    public void exponentials(int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        call(exponentials, rows, n, x, pairs, arguments);
    }

    /** What {@link #extremes} found: the largest, NaN where there is one. */
    public static float largest(int mostKey, int leastKey) {
        return leastKey < NEGATIVE_INFINITY || mostKey > POSITIVE_INFINITY ? Float.NaN : MachineRows.value(mostKey);
    }

    /** The same for the smallest. */
    public static float smallest(int mostKey, int leastKey) {
        return leastKey < NEGATIVE_INFINITY || mostKey > POSITIVE_INFINITY ? Float.NaN : MachineRows.value(leastKey);
    }

    private void call(CallableCode kernel, int rows, int n, Matrix x, Place pairs, MemorySegment arguments) {
        if (rows <= 0) {
            return;
        }
        if (!takes(n) && !(kernel.equals(extremes) && n > MOST)) {
            throw new IllegalArgumentException("rows of " + n + " elements are not of " + lanes + " to " + MOST);
        }
        x.check(rows, 4L * n);
        pairs.checkWritable((long) PAIR * rows);
        arguments.set(LONG, RowCode.X, x.offset());
        arguments.set(LONG, RowCode.Y, pairs.offset());
        arguments.set(LONG, RowCode.N, n);
        arguments.set(LONG, Code.ROWS, rows);
        arguments.set(LONG, Code.X_STEP, x.stride());
        arguments.set(LONG, Code.AHEAD, rows == 1 ? LINES : x.stride());
        int rest = n % lanes;
        arguments.set(LONG, Code.BACK, 4L * (rest - lanes));
        if (rest != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, rest);
        }
        kernel.call(arguments, x.memory(), pairs.memory(), MemorySegment.NULL, MemorySegment.NULL);
    }

    /**
     * The code that makes two numbers of each of many rows, of a vector at least: y is pairs. The pointers are x and y.
     *
     * <p>Vectors: 8 and 9 what becomes the pair, 10 the largest, 11 the limit of exponentials.
     */
    private static final class Code extends ExponentialCode {
        // byte offsets of further arguments, behind RowCode's
        static final int ROWS = SUMS;
        static final int X_STEP = ROWS + 8;
        /** How far ahead lines are asked for. */
        static final int AHEAD = ROWS + 24;

        /** From the walk's place to that of the vector that ends with the row, where that is not whole vectors. */
        static final int BACK = ROWS + 16;

        private static final int OTHER = 7;

        /** What a pair is. */
        enum Kind {
            /** The sum, and the sum of squares. */
            SUMS,
            /** The largest and the smallest {@link MachineRows#key key}. */
            EXTREMES,
            /** The largest, and the sum of exponentials against it: NaN of NaN, or where all are -infinity. */
            EXPONENTIALS
        }

        private final Kind kind;
        private final RowWalk walk = new RowWalk(code, vectors);

        Code(int lanes, Kind kind) {
            super(lanes, false, true);
            this.kind = kind;
        }

        @Override
        void begin() {
            if (kind == Kind.EXPONENTIALS) {
                keepBoundedExponential();
                vectors.constant(11, Exponential.LOW);
            } else if (kind == Kind.EXTREMES) {
                vectors.constant(11, Float.intBitsToFloat(Integer.MAX_VALUE));
            }
        }

        @Override
        byte[] make() {
            Label row = new Label();
            code.entry();
            code.add(RSI, argument(X));
            code.add(RDX, argument(Y));
            begin();
            code.place(row);
            code.move(R11, RSI);
            code.add(R11, argument(AHEAD));
            switch (kind) {
                case SUMS -> sums();
                case EXTREMES -> extremes();
                case EXPONENTIALS -> exponentials();
            }
            code.storeFloat(Memory.at(RDX, 0), 8);
            code.storeFloat(Memory.at(RDX, 4), 9);
            code.addConstant(RDX, 8);
            code.add(RSI, argument(X_STEP));
            code.load(RAX, argument(ROWS));
            code.subtractConstant(RAX, 1);
            code.store(argument(ROWS), RAX);
            code.jump(Assembler.NOT_EQUAL, row);
            code.zeroUpper();
            code.ret();
            return code.bytes();
        }

        /** The vector at the walk's place, or the last of the row, some of whose elements were there before. */
        private void loadOverlapping(boolean narrow) {
            if (narrow) {
                code.move(RCX, RSI);
                code.add(RCX, argument(BACK));
                vectors.load(0, new Memory(RCX, R9, 1, 0));
            } else {
                walk.load(0, RSI, false);
            }
        }

        private void sums() {
            vectors.zero(8);
            vectors.zero(9);
            walk.over(narrow -> {
                code.prefetch(RowWalk.at(R11));
                walk.load(0, RSI, narrow);
                operate(Arithmetic.ADD, 8, 8, 0);
                vectors.multiplyAdd(9, 0, 0);
            });
            vectors.spread(Arithmetic.ADD, 8, OTHER);
            vectors.spread(Arithmetic.ADD, 9, OTHER);
        }

        private void extremes() {
            vectors.constant(8, Float.intBitsToFloat(Integer.MIN_VALUE));
            vectors.move(9, 11);
            walk.over(narrow -> {
                code.prefetch(RowWalk.at(R11));
                loadOverlapping(narrow);
                vectors.signs(1, 0);
                operate(Arithmetic.AND, 1, 1, 11);
                operate(Arithmetic.XOR, 0, 0, 1);
                operate(Arithmetic.MAXIMUM_INTEGERS, 8, 8, 0);
                operate(Arithmetic.MINIMUM_INTEGERS, 9, 9, 0);
            });
            vectors.spread(Arithmetic.MAXIMUM_INTEGERS, 8, OTHER);
            vectors.spread(Arithmetic.MINIMUM_INTEGERS, 9, OTHER);
        }

        private void exponentials() {
            vectors.constant(10, Float.NEGATIVE_INFINITY);
            walk.over(narrow -> {
                loadOverlapping(narrow);
                operate(Arithmetic.MAXIMUM, 10, 0, 10); // the second where the first is NaN
            });
            vectors.spread(Arithmetic.MAXIMUM, 10, OTHER);
            vectors.zero(9);
            walk.over(narrow -> {
                code.prefetch(RowWalk.at(R11));
                walk.load(0, RSI, narrow);
                vector(narrow);
                operate(Arithmetic.ADD, 9, 9, 0);
            });
            vectors.spread(Arithmetic.ADD, 9, OTHER);
            vectors.move(8, 10);
        }

        @Override
        void vector(boolean narrow) {
            shiftedExponential(true);
            if (narrow) {
                vectors.keepNarrow(0);
            }
        }
    }
}
