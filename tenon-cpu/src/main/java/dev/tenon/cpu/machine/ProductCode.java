package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R10;
import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R12;
import static dev.tenon.cpu.machine.Assembler.R13;
import static dev.tenon.cpu.machine.Assembler.R14;
import static dev.tenon.cpu.machine.Assembler.R15;
import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RBP;
import static dev.tenon.cpu.machine.Assembler.RBX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDI;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;

/**
 * The code of a product C = start + A B of f32 matrices, B in panels of two vectors; or of bytes, where four of a row
 * of A and of a column of B, one after another, are in the place of a float, and the result is of 32-bit integers. A
 * tile of C, some rows of a panel, stays in registers over the whole of k: each step loads a row of the panel and
 * multiplies it by one element of each row of A.
 *
 * <p>Called as {@code void f(void* arguments, float* a, float* b, float* c, float* start)} by the System V convention.
 * The last panel may be narrower than its vectors. Only there are loads and stores masked, which some processors are
 * slow at.
 */
final class ProductCode {
    // byte offsets of the arguments, which are longs; counts are at least 1 but for k, strides are in bytes

    /** Rows of A and C. */
    static final int M = 0;

    static final int K = 8;
    static final int PANELS = 16;
    /** Added to the pointer, as B, C and START are; the code keeps its place here. */
    static final int A = 24;

    static final int LDA = 32;
    static final int B = 40;
    /** From a panel to the next. */
    static final int B_STEP = 48;

    static final int C = 56;
    static final int LDC = 64;
    /** Where the sums begin: a pointer and an offset of zero begin them at zero. */
    static final int START = 72;

    /** From the start of a row to the next row's: zero for a bias, which all rows share. */
    static final int START_STEP = 80;

    /** Whether the last panel is narrower. */
    static final int NARROW = 88;

    /** The value of {@link #NARROW} where the last panel has no more columns than a vector; 1 where it has. */
    static final int HALF = 2;

    /** The lanes of the last panel, as {@link VectorCode#masks} wants them. */
    static final int MASKS = 96;

    static final int ARGUMENT_BYTES = MASKS + 64;

    private static final int[] SAVED = {RBX, RBP, R12, R13, R14, R15};

    /** Each points to a row of A: its own, and by the stride once and twice the two after it. */
    private static final int[] ROWS_OF_A = {RSI, RAX, RBX, RBP};

    /** Steps of k that a turn of the loop takes. */
    private static final int UNROLL = 4;

    private final VectorAssembler code = new VectorAssembler();
    private final VectorCode vectors;

    /** Whether four bytes are in the place of a float. */
    private final boolean bytes;

    /** How much of a panel there is. */
    private enum Width {
        WHOLE(2, false),
        NARROW(2, true),
        /** At most the first of its two vectors: half the work. */
        HALF(1, true);

        private final int halves;
        private final boolean masked;

        Width(int halves, boolean masked) {
            this.halves = halves;
            this.masked = masked;
        }
    }

    private ProductCode(int lanes, boolean bytes) {
        this.bytes = bytes;
        this.vectors = VectorCode.of(lanes, code);
    }

    static byte[] of(int lanes, boolean bytes) {
        ProductCode product = new ProductCode(lanes, bytes);
        product.function();
        return product.code.bytes();
    }

    private static Memory argument(int offset) {
        return Memory.at(RDI, offset);
    }

    private void function() {
        code.entry();
        for (int register : SAVED) {
            code.push(register);
        }
        int[] pointers = {RSI, RDX, RCX, R8};
        int[] offsets = {A, B, C, START};
        for (int i = 0; i < pointers.length; i++) {
            code.add(pointers[i], argument(offsets[i]));
            code.store(argument(offsets[i]), pointers[i]);
        }
        code.load(R12, argument(LDA));
        code.load(R14, argument(LDC));
        code.load(R15, argument(START_STEP));
        Label panel = new Label();
        Label narrow = new Label();
        Label half = new Label();
        Label whole = new Label();
        Label next = new Label();
        code.place(panel);
        code.load(R8, argument(A));
        code.load(R9, argument(B));
        code.load(R10, argument(START));
        code.load(R11, argument(C));
        code.load(RCX, argument(M));
        code.load(RAX, argument(PANELS));
        code.compareConstant(RAX, 1);
        code.jump(Assembler.NOT_EQUAL, whole);
        code.load(RAX, argument(NARROW));
        code.test(RAX);
        code.jump(Assembler.NOT_EQUAL, narrow);
        code.place(whole);
        rows(Width.WHOLE);
        code.jump(next);
        code.place(narrow);
        code.compareConstant(RAX, HALF);
        code.jump(Assembler.EQUAL, half);
        rows(Width.NARROW);
        code.jump(next);
        code.place(half);
        rows(Width.HALF);
        code.place(next);
        nextPanel();
        code.jump(Assembler.NOT_EQUAL, panel);
        code.zeroUpper();
        for (int i = SAVED.length - 1; i >= 0; i--) {
            code.pop(SAVED[i]);
        }
        code.ret();
    }

    /** Moves on by a panel; sets the flag of equality after the last. */
    private void nextPanel() {
        code.load(RAX, argument(B));
        code.add(RAX, argument(B_STEP));
        code.store(argument(B), RAX);
        code.load(RAX, argument(C));
        code.addConstant(RAX, 2 * vectors.bytes());
        code.store(argument(C), RAX);
        Label zero = new Label();
        code.load(RAX, argument(START));
        code.test(RAX);
        code.jump(Assembler.EQUAL, zero);
        code.addConstant(RAX, 2 * vectors.bytes());
        code.store(argument(START), RAX);
        code.place(zero);
        code.load(RAX, argument(PANELS));
        code.subtractConstant(RAX, 1);
        code.store(argument(PANELS), RAX);
    }

    /** All rows of a panel: as many whole tiles as there are, then one of the rows that are left. */
    private void rows(Width width) {
        int most = vectors.rows();
        Label top = new Label();
        Label rest = new Label();
        Label done = new Label();
        code.place(top);
        code.compareConstant(RCX, most);
        code.jump(Assembler.LESS, rest);
        tile(most, width);
        code.jump(top);
        code.place(rest);
        for (int rows = most - 1; rows > 0; rows--) {
            Label fewer = new Label();
            code.compareConstant(RCX, rows);
            code.jump(Assembler.NOT_EQUAL, fewer);
            tile(rows, width);
            code.jump(done);
            code.place(fewer);
        }
        code.place(done);
    }

    private static int sum(int row, int half) {
        return 2 * row + half;
    }

    /** Leaves the pointers at the next rows. */
    private void tile(int rows, Width width) {
        begin(rows, width);
        code.move(ROWS_OF_A[0], R8);
        for (int i = 1; 3 * i < rows; i++) {
            code.address(ROWS_OF_A[i], new Memory(ROWS_OF_A[i - 1], R12, 2, 0));
            code.add(ROWS_OF_A[i], R12);
        }
        code.move(RDX, R9);
        code.load(R13, argument(K));
        Label top = new Label();
        Label rest = new Label();
        Label one = new Label();
        Label done = new Label();
        code.subtractConstant(R13, UNROLL);
        code.jump(Assembler.LESS, rest);
        code.place(top);
        steps(rows, UNROLL, width);
        code.subtractConstant(R13, UNROLL);
        code.jump(Assembler.NOT_LESS, top);
        code.place(rest);
        code.addConstant(R13, UNROLL);
        code.jump(Assembler.EQUAL, done);
        code.place(one);
        steps(rows, 1, width);
        code.subtractConstant(R13, 1);
        code.jump(Assembler.NOT_EQUAL, one);
        code.place(done);
        end(rows, width);
        code.multiply(RAX, R12, rows);
        code.add(R8, RAX);
        code.subtractConstant(RCX, rows);
    }

    private void begin(int rows, Width width) {
        Label zero = new Label();
        Label done = new Label();
        code.test(R10);
        code.jump(Assembler.EQUAL, zero);
        if (width.masked) {
            vectors.masks(argument(MASKS));
        }
        for (int row = 0; row < rows; row++) {
            for (int half = 0; half < width.halves; half++) {
                Memory from = Memory.at(R10, half * vectors.bytes());
                if (width.masked) {
                    vectors.loadNarrow(sum(row, half), half, from);
                } else {
                    vectors.load(sum(row, half), from);
                }
            }
            code.add(R10, R15);
        }
        code.jump(done);
        code.place(zero);
        for (int i = 0; i < 2 * rows; i++) {
            vectors.zero(i);
        }
        code.place(done);
    }

    private void end(int rows, Width width) {
        if (width.masked) {
            vectors.masks(argument(MASKS));
        }
        for (int row = 0; row < rows; row++) {
            for (int half = 0; half < width.halves; half++) {
                Memory to = Memory.at(R11, half * vectors.bytes());
                if (width.masked) {
                    vectors.storeNarrow(to, half, sum(row, half));
                } else {
                    vectors.store(to, sum(row, half));
                }
            }
            code.add(R11, R14);
        }
    }

    /** Some steps of k, and the pointers moved on by them. */
    private void steps(int rows, int count, Width width) {
        for (int step = 0; step < count; step++) {
            for (int half = 0; half < width.halves; half++) {
                vectors.load(vectors.b(half), Memory.at(RDX, (2 * step + half) * vectors.bytes()));
            }
            for (int row = 0; row < rows; row++) {
                int a = vectors.a(row);
                int base = ROWS_OF_A[row / 3];
                Memory from = row % 3 == 0 ? Memory.at(base, 4 * step) : new Memory(base, R12, row % 3, 4 * step);
                vectors.broadcast(a, from);
                for (int half = 0; half < width.halves; half++) {
                    if (bytes) {
                        vectors.multiplyAddBytes(sum(row, half), a, vectors.b(half));
                    } else {
                        vectors.multiplyAdd(sum(row, half), vectors.b(half), a);
                    }
                }
            }
        }
        code.addConstant(RDX, 2 * vectors.bytes() * count);
        for (int i = 0; 3 * i < rows; i++) {
            code.addConstant(ROWS_OF_A[i], 4 * count);
        }
    }
}
