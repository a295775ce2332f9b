package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R8;
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
        return new NormKernel(CallableCode.of(new Code(lanes).make()), lanes);
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
        arguments.set(LONG, Code.ROWS, form.rows);
        arguments.set(LONG, Code.X_STEP, x.stride());
        arguments.set(LONG, Code.Y_STEP, y.stride());
        arguments.set(LONG, Code.RMS, form.rms ? 1 : 0);
        boolean stream = form.stream && y.isWholeVectors(bytes, 4L * lanes);
        arguments.set(LONG, Code.STREAM, stream ? 1 : 0);
        if (form.n % lanes != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, form.n % lanes);
        }
        kernel.call(arguments, x.memory(), y.memory(), scale.memory(), bias.memory());
        return form.rows - (int) arguments.get(LONG, Code.ROWS);
    }

    /**
     * The code of LayerNorm and RmsNorm over rows: a walk for the mean, one for the moments about it, one that writes.
     * What the mean lacks in f32 comes out of the second walk. It ends before the first row whose deviation or its
     * reciprocal is no finite number. The pointers are x, y, scale and bias.
     *
     * <p>Vectors: 3 the addend, 5 the reciprocal of the row's length, 6 epsilon, 8 and 9 sums, 10 the mean, 11 the
     * first element and then the factor.
     */
    private static final class Code {
        // byte offsets of further arguments, behind RowCode's

        /** A vector that is zero where a row's deviation is a number. */
        static final int CHECK = RowCode.SUMS;

        /** Rows that are left; then from a row to the next, of x and of y. */
        static final int ROWS = RowCode.SUMS + 64;

        static final int X_STEP = ROWS + 8;
        static final int Y_STEP = ROWS + 16;

        /** Whether the mean is taken as zero. */
        static final int RMS = ROWS + 24;

        /** Whether y goes past the caches: its rows are whole vectors, aligned. */
        static final int STREAM = ROWS + 32;

        private static final int[] POINTERS = {RSI, RDX, RCX, R8};
        private static final int OTHER = 7;

        private final VectorAssembler code = new VectorAssembler();
        private final VectorCode vectors;
        private final RowWalk walk;

        Code(int lanes) {
            this.vectors = VectorCode.of(lanes, code);
            this.walk = new RowWalk(code, vectors);
        }

        byte[] make() {
            Label row = new Label();
            Label end = new Label();
            code.entry();
            for (int i = 0; i < POINTERS.length; i++) {
                code.add(POINTERS[i], RowCode.argument(RowCode.X + 8 * i));
            }
            vectors.broadcast(5, RowCode.argument(RowCode.SCALARS));
            vectors.broadcast(6, RowCode.argument(RowCode.SCALARS + 4));
            code.place(row);
            mean();
            moments();
            code.load32(RAX, RowCode.argument(CHECK));
            code.test(RAX);
            code.jump(Assembler.NOT_EQUAL, end);
            write();
            code.add(RSI, RowCode.argument(X_STEP));
            code.add(RDX, RowCode.argument(Y_STEP));
            code.load(RAX, RowCode.argument(ROWS));
            code.subtractConstant(RAX, 1);
            code.store(RowCode.argument(ROWS), RAX);
            code.jump(Assembler.NOT_EQUAL, row);
            code.place(end);
            code.storeFence();
            code.zeroUpper();
            code.ret();
            return code.bytes();
        }

        private void operate(Arithmetic op, int to, int a, int b) {
            vectors.arithmetic(op, to, a, b);
        }

        /** The mean, as what the row's first element lacks of it: of equal elements it is exact. */
        private void mean() {
            Label done = new Label();
            vectors.zero(10);
            code.load(R9, RowCode.argument(RMS));
            code.test(R9);
            code.jump(Assembler.NOT_EQUAL, done);
            vectors.broadcast(11, Memory.at(RSI, 0));
            walk.over(narrow -> {
                walk.load(0, RSI, narrow);
                operate(Arithmetic.SUBTRACT, 0, 0, 11);
                if (narrow) {
                    vectors.keepNarrow(0);
                }
                operate(Arithmetic.ADD, 10, 10, 0);
            });
            vectors.spread(Arithmetic.ADD, 10, OTHER);
            operate(Arithmetic.MULTIPLY, 10, 10, 5);
            operate(Arithmetic.ADD, 10, 10, 11);
            code.place(done);
        }

        /** The factor and the addend, and the check. */
        private void moments() {
            Label centred = new Label();
            vectors.zero(8);
            vectors.zero(9);
            code.move(R11, RSI);
            code.add(R11, RowCode.argument(X_STEP));
            walk.over(narrow -> {
                code.prefetch(RowWalk.at(R11)); // the next row comes while this one is worked on
                walk.load(0, RSI, narrow);
                operate(Arithmetic.SUBTRACT, 0, 0, 10);
                if (narrow) {
                    vectors.keepNarrow(0);
                }
                operate(Arithmetic.ADD, 8, 8, 0);
                vectors.multiplyAdd(9, 0, 0);
            });
            vectors.spread(Arithmetic.ADD, 8, OTHER);
            vectors.spread(Arithmetic.ADD, 9, OTHER);
            operate(Arithmetic.MULTIPLY, 8, 8, 5);
            operate(Arithmetic.MULTIPLY, 9, 9, 5);
            vectors.zero(0);
            code.load(R9, RowCode.argument(RMS));
            code.test(R9);
            code.jump(Assembler.EQUAL, centred);
            vectors.zero(8);
            code.place(centred);
            operate(Arithmetic.MULTIPLY, 1, 8, 8);
            operate(Arithmetic.SUBTRACT, 9, 9, 1);
            operate(Arithmetic.MAXIMUM, 9, 0, 9);
            operate(Arithmetic.ADD, 9, 9, 6);
            vectors.squareRoot(9, 9);
            vectors.constant(11, 1);
            operate(Arithmetic.DIVIDE, 11, 11, 9);
            operate(Arithmetic.MULTIPLY, 3, 8, 11);
            operate(Arithmetic.SUBTRACT, 3, 0, 3);
            operate(Arithmetic.MULTIPLY, 1, 9, 0);
            vectors.multiplyAdd(1, 11, 0);
            vectors.store(RowCode.argument(CHECK), 1);
        }

        private void write() {
            Label stream = new Label();
            Label done = new Label();
            code.load(R9, RowCode.argument(STREAM));
            code.test(R9);
            code.jump(Assembler.NOT_EQUAL, stream);
            write(false);
            code.jump(done);
            code.place(stream);
            write(true);
            code.place(done);
        }

        private void write(boolean stream) {
            Label scaled = new Label();
            Label biased = new Label();
            Label done = new Label();
            code.load(R9, RowCode.argument(RowCode.PARAMETERS));
            code.compareConstant(R9, 1);
            code.jump(Assembler.EQUAL, scaled);
            code.jump(Assembler.NOT_LESS, biased);
            write(false, false, stream);
            code.jump(done);
            code.place(scaled);
            write(true, false, stream);
            code.jump(done);
            code.place(biased);
            write(true, true, stream);
            code.place(done);
        }

        private void write(boolean scale, boolean bias, boolean stream) {
            walk.over(narrow -> {
                walk.load(0, RSI, narrow);
                operate(Arithmetic.SUBTRACT, 0, 0, 10);
                vectors.multiplyThenAdd(0, 11, 3);
                if (scale) {
                    walk.load(1, RCX, narrow);
                    operate(Arithmetic.MULTIPLY, 0, 0, 1);
                }
                if (bias) {
                    walk.load(1, R8, narrow);
                    operate(Arithmetic.ADD, 0, 0, 1);
                }
                if (stream && !narrow) {
                    vectors.storeStream(RowWalk.at(RDX), 0);
                } else {
                    walk.store(RDX, 0, narrow);
                }
            });
        }
    }
}
