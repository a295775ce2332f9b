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

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
            .mapToObj(form -> new Made(() -> new Running(form).make()))
            .toList();

    private static final List<Made> BEST = Stream.iterate(1, k -> k + 1)
            .limit(MOST_BEST)
            .map(k -> new Made(() -> new Best(k).make()))
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
        arguments.set(LONG, Code.X, x.offset() + first);
        arguments.set(LONG, Code.Y, y.offset() + first);
        arguments.set(LONG, Code.KEPT, totals.offset());
        arguments.set(LONG, Code.N, n);
        arguments.set(LONG, Code.ROWS, rows);
        arguments.set(LONG, Code.STEP, form.reverse ? -x.stride() : x.stride());
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
        if (n % LANES != 0) {
            throw new IllegalArgumentException(n + " lanes are not whole vectors");
        }
        CallableCode.require(LANES);
        x.check(rows, 4L * n);
        found.checkWritable(8L * n * count);
        for (long i = 0; i < (long) n * count; i++) {
            found.memory().set(INT, found.offset() + 4 * i, Integer.MIN_VALUE);
        }
        arguments.set(LONG, Code.X, x.offset());
        arguments.set(LONG, Code.KEPT, found.offset());
        arguments.set(LONG, Code.N, n);
        arguments.set(LONG, Code.ROWS, rows);
        arguments.set(LONG, Code.STEP, x.stride());
        arguments.set(LONG, Code.KEPT_STEP, 4L * n);
        arguments.set(INT, Code.FLIP, largest ? 0 : -1);
        arguments.set(INT, Code.NUMBER, 0);
        if (rows > 0 && n > 0) {
            BEST.get(count - 1)
                    .get()
                    .call(arguments, x.memory(), MemorySegment.NULL, found.memory(), MemorySegment.NULL);
        }
    }

    /** Walks over a few rows at a time, all their vectors. The pointers are x, y and what is kept of each lane. */
    private abstract static class Code {
        // byte offsets of the arguments, of which the first three are added to the pointers
        static final int X = 0;
        static final int Y = 8;
        static final int KEPT = 16;
        static final int N = 32;
        static final int ROWS = 40;
        static final int STEP = 48;
        static final int KEPT_STEP = 56;
        static final int FLIP = 64;
        static final int NUMBER = 68;

        /** Rows at a time, and bytes ahead whose lines are asked for. */
        static final int MOST = 8;

        private static final int LINES = 256;

        final VectorAssembler code = new VectorAssembler();

        static Memory argument(int offset) {
            return Memory.at(RDI, offset);
        }

        void begin() {}

        /** So many rows of a vector: x at RAX and, from the fifth row on, RBX; R10 is the same of y. */
        abstract void vector(int rows);

        void after(int rows) {}

        final byte[] make() {
            code.entry();
            code.push(RBX);
            code.push(Assembler.R12);
            code.push(Assembler.R13);
            code.add(RSI, argument(X));
            code.add(RDX, argument(Y));
            code.add(RCX, argument(KEPT));
            code.load(R11, argument(STEP));
            code.address(R8, new Memory(R11, R11, 2, 0));
            begin();
            for (int rows = MOST; rows > 0; rows--) {
                group(rows);
            }
            code.storeFence();
            code.zeroUpper();
            code.pop(Assembler.R13);
            code.pop(Assembler.R12);
            code.pop(RBX);
            code.ret();
            return code.bytes();
        }

        private void group(int rows) {
            Label top = new Label();
            Label next = new Label();
            Label vector = new Label();
            code.place(top);
            code.load(RAX, argument(ROWS));
            code.subtractConstant(RAX, rows);
            code.jump(Assembler.LESS, next);
            code.store(argument(ROWS), RAX);
            code.xor(R9, R9);
            code.load(Assembler.R13, argument(N));
            code.place(vector);
            code.address(RAX, new Memory(RSI, R9, 1, 0));
            code.address(RBX, new Memory(RAX, R11, 4, 0));
            code.address(R10, new Memory(RDX, R9, 1, 0));
            code.address(Assembler.R12, new Memory(R10, R11, 4, 0));
            vector(rows);
            for (int row = 0; row < rows && rows == MOST; row++) {
                code.prefetchSecond(x(row).plus(LINES));
            }
            code.addConstant(R9, LINE);
            code.subtractConstant(Assembler.R13, LANES);
            code.jump(Assembler.NOT_EQUAL, vector);
            for (int pointer : new int[] {RSI, RDX}) {
                code.multiply(RAX, R11, rows);
                code.add(pointer, RAX);
            }
            after(rows);
            code.jump(top);
            code.place(next);
        }

        static Memory x(int row) {
            return place(row < 4 ? RAX : RBX, row & 3);
        }

        static Memory y(int row) {
            return place(row < 4 ? R10 : Assembler.R12, row & 3);
        }

        private static Memory place(int base, int row) {
            return switch (row) {
                case 0 -> Memory.at(base, 0);
                case 1 -> new Memory(base, R11, 1, 0);
                case 2 -> new Memory(base, R11, 2, 0);
                default -> new Memory(base, R8, 1, 0);
            };
        }
    }

    /** Totals are four vectors of four doubles, with instructions of AVX2. */
    private static final class Running extends Code {
        private static final int QUARTERS = 4;
        private final Arithmetic op;
        private final boolean exclusive;
        private final boolean past;

        Running(int form) {
            op = (form & 1) != 0 ? Arithmetic.ADD : Arithmetic.MULTIPLY;
            exclusive = (form & 2) != 0;
            past = (form & 4) != 0;
        }

        private static Memory total(int quarter) {
            return new Memory(RCX, R9, 2, 32 * quarter);
        }

        @Override
        void vector(int rows) {
            for (int quarter = 0; quarter < QUARTERS; quarter++) {
                code.load256(quarter, total(quarter));
            }
            for (int row = 0; row < rows; row++) {
                for (int quarter = 0; quarter < QUARTERS; quarter++) {
                    code.loadAsDoubles256(4 + quarter, x(row).plus(16 * quarter));
                    int result = exclusive ? 8 + quarter : quarter;
                    if (exclusive) {
                        code.move256(result, quarter);
                    }
                    code.arithmeticOfDoubles256(op, quarter, quarter, 4 + quarter);
                    code.toFloats256(12, result);
                    Memory to = y(row).plus(16 * quarter);
                    if (past) {
                        code.storeStream128(to, 12);
                    } else {
                        code.store128(to, 12);
                    }
                }
            }
            for (int quarter = 0; quarter < QUARTERS; quarter++) {
                code.store256(total(quarter), quarter);
            }
        }
    }

    /**
     * Keys compare as integers: flipped for the smallest, NaN above all before that. A row that is better than the
     * worst of a lane goes down its list, which is in order.
     *
     * <p>Vectors: 0 a key, 1 and 2 what it is made with, 3 a row's number, 4 zero, 5 infinity, 6 the flip, 7 one as an
     * integer, 8 the row's own key, 9 the row's number, 10 the key of NaN, 11 all bits but the sign; from 12 on the
     * keys, from 20 on the numbers.
     */
    private static final class Best extends Code {
        private static final int KEYS = 12;
        private static final int NUMBERS = 20;
        private static final int BETTER = 3;
        private static final int NO_NUMBER = 4;
        private final int count;

        Best(int count) {
            this.count = count;
        }

        @Override
        void begin() {
            code.zero512(4);
            code.constant512(5, Float.POSITIVE_INFINITY);
            code.broadcast512(6, argument(FLIP));
            code.constant512(7, Float.intBitsToFloat(1));
            code.constant512(10, Float.intBitsToFloat(Integer.MAX_VALUE - 1)); // and flipped above no key
            code.constant512(11, Float.intBitsToFloat(Integer.MAX_VALUE));
        }

        @Override
        void vector(int rows) {
            load(true);
            code.broadcast512(9, argument(NUMBER));
            for (int row = 0; row < rows; row++) {
                Label worse = new Label();
                code.load512(0, x(row));
                code.arithmetic512(Arithmetic.ADD, 0, 0, 4); // -0 becomes 0
                code.arithmetic512(Arithmetic.AND, 1, 0, 11);
                code.signs512(2, 0);
                code.arithmetic512(Arithmetic.AND, 2, 2, 11);
                code.arithmetic512(Arithmetic.XOR, 0, 0, 2);
                code.arithmetic512(Arithmetic.GREATER, NO_NUMBER, 1, 5);
                code.merge512(0, NO_NUMBER, 10);
                code.arithmetic512(Arithmetic.XOR, 0, 0, 6);
                code.arithmetic512(Arithmetic.GREATER, BETTER, 0, KEYS + count - 1);
                code.testMask(BETTER);
                code.jump(Assembler.EQUAL, worse);
                code.move512(3, 9);
                code.move512(8, 0); // what it pushes down is better than all below, equal or not
                for (int place = 0; place < count; place++) {
                    code.arithmetic512(Arithmetic.GREATER, BETTER, 8, KEYS + place);
                    swap(0, KEYS + place, 1);
                    swap(3, NUMBERS + place, 2);
                }
                code.place(worse);
                code.arithmetic512(Arithmetic.ADD_INTEGERS, 9, 9, 7);
            }
            load(false);
        }

        /** In the lanes that are better. */
        private void swap(int a, int b, int other) {
            code.move512(other, b);
            code.merge512(b, BETTER, a);
            code.merge512(a, BETTER, other);
        }

        /** Loads the lists or stores them; RBX is free after the rows. */
        private void load(boolean load) {
            code.address(R10, new Memory(RCX, R9, 1, 0));
            for (int first : new int[] {KEYS, NUMBERS}) {
                for (int place = 0; place < count; place++) {
                    if (load) {
                        code.load512(first + place, Memory.at(R10, 0));
                    } else {
                        code.store512(Memory.at(R10, 0), first + place);
                    }
                    code.add(R10, argument(KEPT_STEP));
                }
            }
        }

        @Override
        void after(int rows) {
            code.load32(RAX, argument(NUMBER));
            code.addConstant(RAX, rows);
            code.store32(argument(NUMBER), RAX);
        }
    }
}
