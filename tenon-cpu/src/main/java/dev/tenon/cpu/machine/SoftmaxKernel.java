package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;
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
        return new SoftmaxKernel(CallableCode.of(new Code(lanes).make()), lanes);
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
        arguments.set(LONG, Code.ROWS, form.rows);
        arguments.set(FLOAT, RowCode.SCALARS, form.scale);
        arguments.set(LONG, RowCode.PARAMETERS, masked ? 1 : form.scale == 1 ? Code.UNSCALED : 0);
        int way = form.guarded ? Code.GUARDED : stream ? Code.STREAM : Code.PLAIN;
        arguments.set(LONG, Code.WAY, way);
        int rest = form.n % lanes;
        if (rest != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, rest);
            for (int lane = 0; lane < lanes; lane++) {
                arguments.set(FLOAT, Code.REST + 4L * lane, lane < rest ? 0 : Float.NEGATIVE_INFINITY);
            }
        }
        kernel.call(arguments, x.memory(), work.memory(), mask.memory(), y.memory());
    }

    private static void place(MemorySegment arguments, int which, Matrix rows) {
        arguments.set(LONG, RowCode.X + 8L * which, rows.offset());
        arguments.set(LONG, Code.STEPS + 8L * which, rows.stride());
    }

    /**
     * The code of y = softmax(x scale + mask) over rows: three walks over each row, of which the first two leave the
     * scores and their exponentials in {@code work}, which may be x or y, or one row for all. The pointers are x, work,
     * mask and y.
     *
     * <p>Vectors: 8 the largest and then the sum, 9 its reciprocal, 10 the scale and then the largest.
     */
    private static final class Code extends ExponentialCode {
        // byte offsets of further arguments, behind RowCode's

        /** A vector of zeros in the lanes of the last vector, and -infinity behind them. */
        static final int REST = SUMS;

        /** Rows, and from a row to the next: of x, work, mask, y. */
        static final int ROWS = SUMS + 64;

        static final int STEPS = ROWS + 8;

        /** How y is written. */
        static final int WAY = STEPS + 32;

        static final int PLAIN = 0;
        /** NaN as zero. */
        static final int GUARDED = 1;
        /** Past the caches: y's rows are whole vectors, aligned. */
        static final int STREAM = 2;

        /** Of parameters: neither a mask nor a scale, so that scores are x. */
        static final int UNSCALED = 2;

        /** Bytes of a row whose exponentials are summed up before they are added to the sum of the others. */
        private static final int PART = 4096;

        /** Elements of rows of which the next one fits into the first cache. */
        private static final int MOST_NEAR = 2048;

        private static final int[] POINTERS = {RSI, RDX, RCX, R8};
        private static final int OTHER = 7;

        private final RowWalk walk = new RowWalk(code, vectors);

        Code(int lanes) {
            super(lanes, false, true);
        }

        @Override
        void begin() {
            keepBoundedExponential();
        }

        @Override
        void vector(boolean narrow) {
            shiftedExponential(true);
            if (narrow) {
                vectors.keepNarrow(0);
            }
            operate(Arithmetic.ADD, 8, 8, 0);
        }

        @Override
        byte[] make() {
            Label row = new Label();
            Label unmasked = new Label();
            Label plain = new Label();
            Label scaled = new Label();
            Label exponentials = new Label();
            code.entry();
            for (int i = 0; i < POINTERS.length; i++) {
                code.add(POINTERS[i], argument(X + 8 * i));
            }
            begin();
            code.place(row);
            vectors.broadcast(10, argument(SCALARS));
            vectors.constant(8, Float.NEGATIVE_INFINITY);
            code.load(R9, argument(PARAMETERS));
            code.test(R9);
            code.jump(Assembler.EQUAL, unmasked);
            code.compareConstant(R9, UNSCALED);
            code.jump(Assembler.EQUAL, plain);
            walk.over(narrow -> scale(true, narrow));
            code.jump(scaled);
            code.place(unmasked);
            walk.over(narrow -> scale(false, narrow));
            code.place(scaled);
            exponentials(RDX);
            code.jump(exponentials);
            code.place(plain);
            walk.over(narrow -> {
                walk.load(0, RSI, narrow);
                largest(narrow);
            });
            exponentials(RSI);
            code.place(exponentials);
            operate(Arithmetic.ADD, 8, 8, 9);
            vectors.spread(Arithmetic.ADD, 8, OTHER);
            vectors.constant(9, 1);
            operate(Arithmetic.DIVIDE, 9, 9, 8);
            divide();
            for (int i = 0; i < POINTERS.length; i++) {
                code.add(POINTERS[i], argument(STEPS + 8 * i));
            }
            code.load(R9, argument(ROWS));
            code.subtractConstant(R9, 1);
            code.store(argument(ROWS), R9);
            code.jump(Assembler.NOT_EQUAL, row);
            code.storeFence();
            code.zeroUpper();
            code.ret();
            return code.bytes();
        }

        /** Exponentials of scores against the largest, to the work. */
        private void exponentials(int scores) {
            vectors.spread(Arithmetic.MAXIMUM, 8, OTHER);
            vectors.move(10, 8);
            vectors.zero(8);
            vectors.zero(9);
            code.move(R11, RSI);
            code.add(R11, argument(STEPS));
            Label far = new Label();
            Label done = new Label();
            code.load(R9, argument(N));
            code.compareConstant(R9, MOST_NEAR + 1);
            code.jump(Assembler.NOT_LESS, far);
            exponentials(scores, () -> code.prefetch(RowWalk.at(R11)));
            code.jump(done);
            code.place(far);
            exponentials(scores, () -> code.prefetchSecond(RowWalk.at(R11)));
            code.place(done);
        }

        /** @param next asks for a line of the next row, which comes while this one is worked on */
        private void exponentials(int scores, Runnable next) {
            walk.over(narrow -> {
                next.run();
                walk.load(0, scores, narrow);
                vector(narrow);
                walk.store(RDX, 0, narrow);
                setAside();
            });
        }

        /** Now and then adds the sum to that of the row's part before: lanes that sum up thousands lose digits. */
        private void setAside() {
            Label later = new Label();
            code.move(RAX, RowWalk.OFFSET);
            code.andConstant(RAX, PART - 1);
            code.jump(Assembler.NOT_EQUAL, later);
            operate(Arithmetic.ADD, 9, 9, 8);
            vectors.zero(8);
            code.place(later);
        }

        private void scale(boolean masked, boolean narrow) {
            walk.load(0, RSI, narrow);
            if (masked) {
                walk.load(1, RCX, narrow);
                vectors.multiplyThenAdd(0, 10, 1);
            } else {
                operate(Arithmetic.MULTIPLY, 0, 0, 10);
            }
            walk.store(RDX, 0, narrow);
            largest(narrow);
        }

        private void largest(boolean narrow) {
            if (narrow) {
                vectors.load(1, argument(REST));
                operate(Arithmetic.ADD, 0, 0, 1);
            }
            operate(Arithmetic.MAXIMUM, 8, 8, 0);
        }

        private void divide() {
            Label guarded = new Label();
            Label stream = new Label();
            Label done = new Label();
            code.load(R9, argument(WAY));
            code.compareConstant(R9, GUARDED);
            code.jump(Assembler.EQUAL, guarded);
            code.compareConstant(R9, STREAM);
            code.jump(Assembler.EQUAL, stream);
            walk.over(narrow -> {
                quotient(narrow);
                walk.store(R8, 0, narrow);
            });
            code.jump(done);
            code.place(guarded);
            walk.over(narrow -> {
                quotient(narrow);
                vectors.zero(1);
                operate(Arithmetic.MAXIMUM, 0, 0, 1); // the second where the first is NaN
                walk.store(R8, 0, narrow);
            });
            code.jump(done);
            code.place(stream);
            walk.over(narrow -> {
                quotient(narrow);
                if (narrow) {
                    walk.store(R8, 0, true);
                } else {
                    vectors.storeStream(RowWalk.at(R8), 0);
                }
            });
            code.place(done);
        }

        private void quotient(boolean narrow) {
            walk.load(0, RDX, narrow);
            operate(Arithmetic.MULTIPLY, 0, 0, 9);
        }
    }
}
