package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R10;
import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDI;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;

/**
 * The code of Winograd's transformations along an axis: six rows of x to six of y, or to the first of four plus a bias.
 * A group is such rows; groups follow each other in x and in y, and have one bias. The last vector of a row overlaps
 * the one before. Called as {@link ProductCode} is, with x, y and the bias; the last pointer is not used.
 */
final class WinogradCode {
    // byte offsets of the arguments, longs; counts are at least 1
    /** Added to the pointer, as Y and BIAS are. */
    static final int X = 0;

    static final int Y = 8;
    static final int BIAS = 16;
    /** Of a row, a vector at least. */
    static final int ROW_BYTES = 24;

    /** From a row to the next. */
    static final int X_STEP = 32;

    static final int Y_STEP = 40;
    static final int GROUPS = 48;
    /** From the end of a row to the next group. */
    static final int X_NEXT = 56;

    static final int Y_NEXT = 64;
    static final int BIAS_NEXT = 72;
    /** Rows of y, 1 to 4, where x becomes four. */
    static final int ROWS = 80;

    /** Whether there is a bias. */
    static final int BIASED = 88;

    private static final int POINTS = 6;

    private final VectorAssembler code = new VectorAssembler();
    private final VectorCode vectors;
    private final int vector;

    private WinogradCode(int lanes) {
        this.vectors = VectorCode.of(lanes, code);
        this.vector = vectors.bytes();
    }

    /** Six rows to six. */
    static byte[] six(int lanes) {
        WinogradCode made = new WinogradCode(lanes);
        made.begin();
        made.vectors.constant(6, 4);
        made.groups(made::sixes);
        return made.code.bytes();
    }

    /** Six rows to four at most, with a bias. */
    static byte[] four(int lanes) {
        WinogradCode made = new WinogradCode(lanes);
        made.begin();
        made.code.add(RCX, argument(BIAS));
        made.vectors.constant(7, 2);
        made.vectors.constant(8, 4);
        made.vectors.constant(9, 8);
        made.groups(made::fours);
        return made.code.bytes();
    }

    private void begin() {
        code.entry();
        code.add(RSI, argument(X));
        code.add(RDX, argument(Y));
        code.load(R8, argument(X_STEP));
        code.load(R9, argument(Y_STEP));
    }

    /** Walks over the rows of each group, whose pointers end a row further on than they began. */
    private void groups(Runnable body) {
        Label group = new Label();
        Label next = new Label();
        Label done = new Label();
        code.place(group);
        code.load(RAX, argument(ROW_BYTES));
        code.place(next);
        body.run();
        advance(vector);
        code.subtractConstant(RAX, vector);
        code.jump(Assembler.EQUAL, done);
        code.compareConstant(RAX, vector);
        code.jump(Assembler.NOT_LESS, next);
        // less than a vector is left: back to the last whole one
        code.add(RSI, RAX);
        code.add(RDX, RAX);
        code.add(RCX, RAX);
        advance(-vector);
        code.xor(RAX, RAX);
        code.addConstant(RAX, vector);
        code.jump(next);
        code.place(done);
        code.add(RSI, argument(X_NEXT));
        code.add(RDX, argument(Y_NEXT));
        code.add(RCX, argument(BIAS_NEXT));
        code.load(RAX, argument(GROUPS));
        code.subtractConstant(RAX, 1);
        code.store(argument(GROUPS), RAX);
        code.jump(Assembler.NOT_EQUAL, group);
        code.zeroUpper();
        code.ret();
    }

    private void advance(int bytes) {
        code.addConstant(RSI, bytes);
        code.addConstant(RDX, bytes);
        code.addConstant(RCX, bytes);
    }

    /** A vector of each row of x, in the first registers. */
    private void loads() {
        code.move(R10, RSI);
        for (int row = 0; row < POINTS; row++) {
            vectors.load(row, Memory.at(R10, 0));
            if (row < POINTS - 1) {
                code.add(R10, R8);
            }
        }
        code.move(R11, RDX);
    }

    private void store(int from) {
        vectors.store(Memory.at(R11, 0), from);
        code.add(R11, R9);
    }

    /** a to f become 4 (a - c) - c + e, even ± odd, near ± far and 4 (b - d) - d + f. */
    private void sixes() {
        int a = 0;
        int b = 1;
        int c = 2;
        int d = 3;
        int e = 4;
        int f = 5;
        int four = 6;
        int even = 7;
        int odd = 8;
        int near = 9;
        int far = 10;
        int result = 11;
        loads();
        vectors.arithmetic(Arithmetic.MULTIPLY, even, c, four);
        vectors.arithmetic(Arithmetic.SUBTRACT, even, e, even);
        vectors.arithmetic(Arithmetic.MULTIPLY, odd, b, four);
        vectors.arithmetic(Arithmetic.SUBTRACT, odd, d, odd);
        vectors.arithmetic(Arithmetic.SUBTRACT, near, e, c);
        vectors.arithmetic(Arithmetic.SUBTRACT, far, d, b);
        vectors.arithmetic(Arithmetic.ADD, far, far, far);
        vectors.arithmetic(Arithmetic.SUBTRACT, result, a, c);
        vectors.multiplyThenAdd(result, four, near);
        store(result);
        vectors.arithmetic(Arithmetic.ADD, result, even, odd);
        store(result);
        vectors.arithmetic(Arithmetic.SUBTRACT, result, even, odd);
        store(result);
        vectors.arithmetic(Arithmetic.ADD, result, near, far);
        store(result);
        vectors.arithmetic(Arithmetic.SUBTRACT, result, near, far);
        store(result);
        vectors.arithmetic(Arithmetic.SUBTRACT, result, b, d);
        vectors.arithmetic(Arithmetic.SUBTRACT, f, f, d);
        vectors.multiplyThenAdd(result, four, f);
        store(result);
    }

    /** a to f become a + near + far, nearer + 2 farther, near + 4 far and nearer + 8 farther + f. */
    private void fours() {
        int a = 0;
        int b = 1;
        int c = 2;
        int d = 3;
        int e = 4;
        int f = 5;
        int two = 7;
        int four = 8;
        int eight = 9;
        int near = 10;
        int nearer = 11;
        int far = 12;
        int farther = 13;
        int bias = 14;
        loads();
        Label unbiased = new Label();
        vectors.arithmetic(Arithmetic.ADD, near, b, c);
        vectors.arithmetic(Arithmetic.SUBTRACT, nearer, b, c);
        code.load(R10, argument(BIASED));
        code.test(R10);
        code.jump(Assembler.EQUAL, unbiased);
        vectors.load(bias, Memory.at(RCX, 0));
        vectors.arithmetic(Arithmetic.ADD, near, near, bias);
        vectors.arithmetic(Arithmetic.ADD, nearer, nearer, bias);
        code.place(unbiased);
        vectors.arithmetic(Arithmetic.ADD, far, d, e);
        vectors.arithmetic(Arithmetic.SUBTRACT, farther, d, e);
        vectors.arithmetic(Arithmetic.ADD, a, near, a);
        vectors.arithmetic(Arithmetic.ADD, a, a, far);
        store(a);
        Label done = new Label();
        code.load(R10, argument(ROWS));
        another(done);
        vectors.move(b, farther);
        vectors.multiplyThenAdd(b, two, nearer);
        store(b);
        another(done);
        vectors.multiplyThenAdd(far, four, near);
        store(far);
        another(done);
        vectors.multiplyThenAdd(farther, eight, nearer);
        vectors.arithmetic(Arithmetic.ADD, farther, farther, f);
        store(farther);
        code.place(done);
    }

    /** Leaves where R10, the rows that are not done, has come to its end. */
    private void another(Label done) {
        code.subtractConstant(R10, 1);
        code.jump(Assembler.EQUAL, done);
    }

    private static Memory argument(int offset) {
        return Memory.at(RDI, offset);
    }
}
