package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R10;
import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RBX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDI;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
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
     * Which rows of x each result of {@link #run} is the sum of, and their weights. Immutable, thread-safe.
     *
     * <p>Made here alone, so that the farthest row is what the code will read.
     */
    public static final class Taps {
        final MemorySegment memory;
        final int results;
        /** How many bytes the last row of x begins at; -1 without any tap. */
        final long last;

        /**
         * Copies taps.
         *
         * @param starts of each result, the first of its taps, and behind the last result their number
         * @param rows of each tap, the row of x
         * @param rowBytes from a row of x to the next
         * @throws IllegalArgumentException if starts fall or a row is before the first
         */
        public Taps(int[] starts, int[] rows, float[] weights, long rowBytes) {
            results = starts.length - 1;
            memory = Arena.ofAuto().allocate(8L * results + (long) Code.TAP_BYTES * rows.length, 64);
            long at = 0;
            int farthest = -1;
            for (int result = 0; result < results; result++) {
                int count = starts[result + 1] - starts[result];
                if (count < 0) {
                    throw new IllegalArgumentException(
                            "taps of result " + result + " go from " + starts[result] + " to " + starts[result + 1]);
                }
                memory.set(ValueLayout.JAVA_LONG, at, count);
                at += 8;
                for (int tap = starts[result]; tap < starts[result + 1]; tap++) {
                    if (rows[tap] < 0) {
                        throw new IllegalArgumentException("tap " + tap + " is of row " + rows[tap]);
                    }
                    farthest = Math.max(farthest, rows[tap]);
                    memory.set(ValueLayout.JAVA_LONG, at, SizeMath.product("taps", rows[tap], rowBytes));
                    memory.set(ValueLayout.JAVA_FLOAT, at + Code.WEIGHT, weights[tap]);
                    at += Code.TAP_BYTES;
                }
            }
            last = farthest < 0 ? -1 : SizeMath.product("taps", farthest, rowBytes);
        }
    }

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static BlendKernel make(int lanes) {
        CallableCode.require(lanes);
        return new BlendKernel(CallableCode.of(new Code(lanes).make()), lanes);
    }

    /**
     * Each row of y becomes the sum of its taps, added in their order from zero on; x and y do not overlap.
     *
     * @param n floats of a row
     * @param x where the first row is; {@code taps} know the others
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void run(Taps taps, int n, Place x, Matrix y, MemorySegment arguments) {
        if (taps.results == 0 || n <= 0) {
            return;
        }
        long bytes = 4L * n;
        if (taps.last >= 0) {
            new Matrix(x.memory(), x.offset(), taps.last).check(2, bytes);
        }
        y.checkWritable(taps.results, bytes);
        arguments.set(LONG, Code.X, x.offset());
        arguments.set(LONG, Code.Y, y.offset());
        arguments.set(LONG, Code.TAPS, 0);
        arguments.set(LONG, Code.N, n);
        arguments.set(LONG, Code.Y_STEP, y.stride());
        arguments.set(LONG, Code.RESULTS, taps.results);
        if (n % lanes != 0) {
            VectorCode.writeMasks(lanes, arguments, Code.MASKS, n % lanes);
        }
        kernel.call(arguments, x.memory(), y.memory(), taps.memory, MemorySegment.NULL);
    }

    /**
     * The code of weighted sums of rows of floats: {@link #WIDE} vectors of a result at a time stay in registers while
     * its taps are added, then single vectors, then the lanes that are left. The pointers are x, y and the taps.
     */
    static final class Code {
        // byte offsets of the arguments: longs, of which the first three are added to the pointers
        static final int X = 0;
        static final int Y = 8;
        static final int TAPS = 16;
        /** Floats of a row, at least 1. */
        static final int N = 24;

        /** From a result to the next, in bytes. */
        static final int Y_STEP = 32;

        /** How many results, at least 1. */
        static final int RESULTS = 40;

        /** As {@link VectorCode#masks} wants them. */
        static final int MASKS = 64;

        // a result's taps: a long that counts them, then each one's place in x in bytes and its weight
        static final int TAP_BYTES = 16;
        static final int WEIGHT = 8;

        private static final int WIDE = 4;

        private final VectorAssembler code = new VectorAssembler();
        private final VectorCode vectors;

        Code(int lanes) {
            this.vectors = VectorCode.of(lanes, code);
        }

        byte[] make() {
            int lanes = vectors.bytes() / 4;
            Label result = new Label();
            Label wide = new Label();
            Label single = new Label();
            Label few = new Label();
            Label rest = new Label();
            Label done = new Label();
            code.entry();
            code.push(RBX);
            code.add(RSI, argument(X));
            code.add(RDX, argument(Y));
            code.add(RCX, argument(TAPS));
            code.place(result);
            code.load(R11, Memory.at(RCX, 0));
            code.addConstant(RCX, 8);
            code.xor(R9, R9);
            code.load(R10, argument(N));
            code.subtractConstant(R10, WIDE * lanes);
            code.jump(Assembler.LESS, few);
            code.place(wide);
            sums(WIDE, false);
            code.addConstant(R9, WIDE * vectors.bytes());
            code.subtractConstant(R10, WIDE * lanes);
            code.jump(Assembler.NOT_LESS, wide);
            code.place(few);
            code.addConstant(R10, (WIDE - 1) * lanes);
            code.jump(Assembler.LESS, rest);
            code.place(single);
            sums(1, false);
            code.addConstant(R9, vectors.bytes());
            code.subtractConstant(R10, lanes);
            code.jump(Assembler.NOT_LESS, single);
            code.place(rest);
            code.addConstant(R10, lanes);
            code.jump(Assembler.EQUAL, done);
            vectors.masks(argument(MASKS));
            sums(1, true);
            code.place(done);
            code.move(RCX, R8); // the taps that were added last end where those of the next result begin
            code.add(RDX, argument(Y_STEP));
            code.load(RAX, argument(RESULTS));
            code.subtractConstant(RAX, 1);
            code.store(argument(RESULTS), RAX);
            code.jump(Assembler.NOT_EQUAL, result);
            code.zeroUpper();
            code.pop(RBX);
            code.ret();
            return code.bytes();
        }

        /** So many vectors of a result, from R9 on. */
        private void sums(int count, boolean narrow) {
            Label tap = new Label();
            Label none = new Label();
            int weight = vectors.a(0);
            for (int i = 0; i < count; i++) {
                vectors.zero(i);
            }
            code.move(R8, RCX);
            code.move(RAX, R11);
            code.test(RAX);
            code.jump(Assembler.EQUAL, none);
            code.place(tap);
            code.load(RBX, Memory.at(R8, 0));
            code.add(RBX, RSI);
            vectors.broadcast(weight, Memory.at(R8, WEIGHT));
            for (int i = 0; i < count; i++) {
                Memory from = new Memory(RBX, R9, 1, i * vectors.bytes());
                if (narrow) {
                    vectors.loadNarrow(WIDE + i, 0, from);
                } else {
                    vectors.load(WIDE + i, from);
                }
                vectors.multiplyAdd(i, WIDE + i, weight);
            }
            code.addConstant(R8, TAP_BYTES);
            code.subtractConstant(RAX, 1);
            code.jump(Assembler.NOT_EQUAL, tap);
            code.place(none);
            for (int i = 0; i < count; i++) {
                Memory to = new Memory(RDX, R9, 1, i * vectors.bytes());
                if (narrow) {
                    vectors.storeNarrow(to, 0, i);
                } else {
                    vectors.store(to, i);
                }
            }
        }

        private static Memory argument(int offset) {
            return Memory.at(RDI, offset);
        }
    }
}
