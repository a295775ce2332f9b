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

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;

/** Walks over a few rows at a time, all their vectors. The pointers are x, y and what is kept of each lane. */
abstract class LaneCode {
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

    /** From the first keys of a list to the last. */
    static final int WORST = 72;

    /** How far ahead lines of the rows that are next are asked for from the end of a row on. */
    static final int NEXT_AHEAD = 80;

    /** Rows at a time, and bytes ahead whose lines are asked for. */
    static final int MOST = 8;

    private static final int LINES = 1024;
    private static final int LINE = 64;

    final VectorAssembler code = new VectorAssembler();

    static long nextAhead(int n, long step) {
        return 4L * n > LINES ? MOST * step + LINES - 4L * n : LINES / (4L * n) * MOST * step;
    }

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
        if (rows == MOST) {
            askAhead();
        }
        code.addConstant(R9, LINE);
        code.subtractConstant(Assembler.R13, LaneKernel.LANES);
        code.jump(Assembler.NOT_EQUAL, vector);
        for (int pointer : new int[] {RSI, RDX}) {
            code.multiply(RAX, R11, rows);
            code.add(pointer, RAX);
        }
        after(rows);
        code.jump(top);
        code.place(next);
    }

    private void askAhead() {
        Label last = new Label();
        Label ask = new Label();
        code.compareConstant(Assembler.R13, LINES / 4 + 1);
        code.jump(Assembler.LESS, last);
        code.addConstant(RAX, LINES);
        code.addConstant(RBX, LINES);
        code.jump(ask);
        code.place(last);
        code.add(RAX, argument(NEXT_AHEAD));
        code.add(RBX, argument(NEXT_AHEAD));
        code.place(ask);
        for (int row = 0; row < MOST; row++) {
            code.prefetchSecond(x(row));
        }
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

    /** Totals are four vectors of four doubles, with instructions of AVX2. */
    static final class Running extends LaneCode {
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
    static final class Best extends LaneCode {
        private static final int KEYS = 12;
        private static final int NUMBERS = 20;
        private static final int BETTER = 3;
        private static final int NO_NUMBER = 4;
        private final int count;
        private final boolean largest;

        Best(int count, boolean largest) {
            this.count = count;
            this.largest = largest;
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
            Label done = new Label();
            if (rows == MOST) {
                Label some = new Label();
                testAll(some);
                code.jump(done);
                code.place(some);
            }
            lists(rows);
            code.place(done);
        }

        /** Jumps to where one of the rows may be better than the worst of its lane, or NaN is one of the two. */
        private void testAll(Label some) {
            code.address(R10, new Memory(RCX, R9, 1, 0));
            code.add(R10, argument(WORST));
            code.load512(0, Memory.at(R10, 0));
            code.arithmetic512(Arithmetic.XOR, 0, 0, 6);
            code.signs512(1, 0);
            code.arithmetic512(Arithmetic.AND, 1, 1, 11);
            code.arithmetic512(Arithmetic.XOR, 0, 0, 1); // the worst as a float; NaN of no key
            int comparison = largest ? VexAssembler.NOT_AT_LEAST : VexAssembler.NOT_AT_MOST;
            for (int row = 0; row < MOST; row += 2) {
                code.compare512(comparison, BETTER, 0, x(row));
                code.compare512(comparison, NO_NUMBER, 0, x(row + 1));
                code.testMasks(BETTER, NO_NUMBER);
                code.jump(Assembler.NOT_EQUAL, some);
            }
        }

        private void lists(int rows) {
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
