package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R12;
import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RBX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;

/**
 * Code that walks over rows of floats, a few at a time, and keeps a number or two of each column in rows of their own.
 * The pointers are x, y, and the two rows; arguments are those of {@link RowCode} and more.
 */
abstract class ColumnCode extends ExponentialCode {
    // byte offsets of further arguments, behind RowCode's

    /** Rows, at least 1; counted down. */
    static final int ROWS = SUMS;

    static final int X_STEP = ROWS + 8;
    static final int Y_STEP = ROWS + 16;
    /** Whether y goes past the caches: its rows are whole vectors, aligned. */
    static final int STREAM = ROWS + 24;

    /** How far ahead a line of each row is asked for, in bytes from the row. */
    static final int AHEAD = ROWS + 32;

    /** Of the wide form. */
    static final int LANES = 16;

    /** Integers: the number of the first row, what flips keys, and what is added to the best before it is compared. */
    static final int NUMBER = ROWS + 40;

    static final int FLIP = NUMBER + 4;
    static final int LATER = NUMBER + 8;

    /** From the first of {@link Grouped#MOST} rows to the first of the next. */
    static final int NEXT = ROWS + 56;

    /** From which byte of a row on lines of the next are asked for, and how far ahead those are. */
    static final int LAST = ROWS + 64;

    static final int NEXT_AHEAD = ROWS + 72;

    final RowWalk walk = new RowWalk(code, vectors);

    ColumnCode(int lanes) {
        super(lanes, false, false);
    }

    @Override
    void begin() {
        keepBoundedExponential();
    }

    final void enter() {
        code.entry();
        code.add(RSI, argument(X));
        code.add(RDX, argument(Y));
        code.add(RCX, argument(SCALE));
        code.add(R8, argument(BIAS));
    }

    final void leave() {
        code.zeroUpper();
        code.ret();
    }

    /** A row of four that begin at a register, R11 apart; RBX is three times that. */
    static Memory row(int base, int row) {
        return switch (row & 3) {
            case 0 -> Memory.at(base, 0);
            case 1 -> new Memory(base, R11, 1, 0);
            case 2 -> new Memory(base, R11, 2, 0);
            default -> new Memory(base, RBX, 1, 0);
        };
    }

    /** A vector of one of the rows of columns. */
    final void loadColumn(int to, int pointer, boolean narrow) {
        walk.load(to, pointer, narrow);
    }

    /** Walks that take {@link #MOST} rows at a time, then those that are left. */
    abstract static class Grouped extends ColumnCode {
        static final int MOST = 8;

        Grouped(int lanes) {
            super(lanes);
        }

        /** What is done with a vector of so many rows, {@link #loadRow}. */
        abstract void columns(int rows, boolean narrow);

        @Override
        final void vector(boolean narrow) {
            throw new IllegalStateException("groups of rows have columns");
        }

        @Override
        final byte[] make() {
            enter();
            code.push(RBX);
            code.push(R12);
            begin();
            code.load(R11, argument(X_STEP));
            code.move(RBX, R11);
            code.add(RBX, R11);
            code.add(RBX, R11);
            code.move(R12, RDX);
            for (int rows = MOST; rows > 0; rows--) {
                group(rows);
            }
            code.storeFence();
            code.pop(R12);
            code.pop(RBX);
            leave();
            return code.bytes();
        }

        private void group(int rows) {
            Label top = new Label();
            Label next = new Label();
            code.place(top);
            code.load(RAX, argument(ROWS));
            code.subtractConstant(RAX, rows);
            code.jump(Assembler.LESS, next);
            code.store(argument(ROWS), RAX);
            walk.over(narrow -> {
                code.move(RAX, RSI);
                code.add(RAX, R9);
                code.address(RDX, new Memory(RAX, R11, 4, 0));
                columns(rows, narrow);
            });
            code.add(RSI, argument(NEXT));
            after(rows);
            code.jump(top);
            code.place(next);
        }

        /** What is done after a walk. */
        void after(int rows) {}

        static Memory row(int row) {
            return ColumnCode.row(row < 4 ? RAX : RDX, row);
        }

        final void loadRow(int to, int row, boolean narrow) {
            if (narrow) {
                vectors.loadNarrow(to, 0, row(row));
            } else {
                vectors.load(to, row(row));
            }
        }

        /** Asks for the lines of rows that follow. */
        final void askAhead(int rows) {
            if (rows == MOST) {
                Label last = new Label();
                Label ask = new Label();
                code.compare(R9, argument(LAST));
                code.jump(Assembler.NOT_LESS, last);
                code.add(RAX, argument(AHEAD));
                code.add(RDX, argument(AHEAD));
                code.jump(ask);
                code.place(last);
                code.add(RAX, argument(NEXT_AHEAD));
                code.add(RDX, argument(NEXT_AHEAD));
                code.place(ask);
                for (int row = 0; row < rows; row++) {
                    code.prefetchSecond(row(row));
                }
            }
        }
    }

    /** Adds rows to the first row of columns. */
    static final class Sums extends Grouped {
        Sums(int lanes) {
            super(lanes);
        }

        @Override
        void begin() {}

        @Override
        void columns(int rows, boolean narrow) {
            loadColumn(8, RCX, narrow);
            for (int row = 0; row < rows; row++) {
                loadRow(row, row, narrow);
            }
            for (int step = 1; step < rows; step *= 2) {
                for (int row = 0; row + step < rows; row += 2 * step) {
                    operate(Arithmetic.ADD, row, row, row + step);
                }
            }
            operate(Arithmetic.ADD, 8, 8, 0);
            walk.store(RCX, 8, narrow);
            askAhead(rows);
        }
    }

    /**
     * The largest {@link MachineRows#key key} of each column goes to the first row of columns, the smallest to the
     * other.
     */
    static final class Extremes extends Grouped {
        Extremes(int lanes) {
            super(lanes);
        }

        @Override
        void begin() {
            vectors.constant(11, Float.intBitsToFloat(Integer.MAX_VALUE));
        }

        @Override
        void columns(int rows, boolean narrow) {
            loadColumn(8, RCX, narrow);
            loadColumn(9, R8, narrow);
            for (int row = 0; row < rows; row++) {
                loadRow(0, row, narrow);
                vectors.signs(1, 0);
                operate(Arithmetic.AND, 1, 1, 11);
                operate(Arithmetic.XOR, 0, 0, 1);
                operate(Arithmetic.MAXIMUM_INTEGERS, 8, 8, 0);
                operate(Arithmetic.MINIMUM_INTEGERS, 9, 9, 0);
            }
            walk.store(RCX, 8, narrow);
            walk.store(R8, 9, narrow);
            askAhead(rows);
        }
    }

    /**
     * The best key of each column goes to the first row of columns, the number of its row to the other. Keys are
     * flipped for the smallest; NaN is the best of all, zeros of both signs are equal.
     */
    static final class Places extends Grouped {
        private static final int BETTER = 3;
        private static final int NO_NUMBER = 4;

        Places(int lanes) {
            super(lanes);
        }

        @Override
        void begin() {
            vectors.zero(3);
            vectors.constant(5, Float.POSITIVE_INFINITY);
            vectors.broadcast(6, argument(FLIP));
            vectors.constant(7, Float.intBitsToFloat(1));
            vectors.broadcast(9, argument(LATER));
            vectors.constant(11, Float.intBitsToFloat(Integer.MAX_VALUE));
        }

        @Override
        void columns(int rows, boolean narrow) {
            loadColumn(8, RCX, narrow);
            loadColumn(4, R8, narrow);
            vectors.broadcast(10, argument(NUMBER));
            for (int row = 0; row < rows; row++) {
                loadRow(0, row, narrow);
                operate(Arithmetic.ADD, 0, 0, 3);
                operate(Arithmetic.AND, 1, 0, 11);
                vectors.signs(2, 0);
                operate(Arithmetic.AND, 2, 2, 11);
                operate(Arithmetic.XOR, 0, 0, 2);
                operate(Arithmetic.XOR, 0, 0, 6);
                choose(NO_NUMBER, 1, 5, new int[][] {{0, 11}});
                operate(Arithmetic.ADD_INTEGERS, 2, 8, 9);
                choose(BETTER, 0, 2, new int[][] {{8, 0}, {4, 10}});
                operate(Arithmetic.ADD_INTEGERS, 10, 10, 7);
            }
            walk.store(RCX, 8, narrow);
            walk.store(R8, 4, narrow);
            askAhead(rows);
        }

        /** Where a is greater than b, the first of each pair becomes the second. Uses 1 and 2. */
        private void choose(int mask, int a, int b, int[][] pairs) {
            VectorAssembler wide = vectors.wide();
            if (wide != null) {
                vectors.arithmetic(Arithmetic.GREATER, mask, a, b);
                for (int[] pair : pairs) {
                    wide.merge512(pair[0], mask, pair[1]);
                }
                return;
            }
            operate(Arithmetic.GREATER, 2, a, b);
            for (int[] pair : pairs) {
                operate(Arithmetic.XOR, 1, pair[0], pair[1]);
                operate(Arithmetic.AND, 1, 1, 2);
                operate(Arithmetic.XOR, pair[0], pair[0], 1);
            }
        }

        @Override
        void after(int rows) {
            code.load32(RAX, argument(NUMBER));
            code.addConstant(RAX, rows);
            code.store32(argument(NUMBER), RAX);
        }
    }

    /** The second row becomes its reciprocals. */
    static final class Reciprocals extends ColumnCode {
        Reciprocals(int lanes) {
            super(lanes);
        }

        @Override
        void vector(boolean narrow) {
            walk.load(0, R8, narrow);
            operate(Arithmetic.DIVIDE, 0, 9, 0);
            walk.store(R8, 0, narrow);
        }

        @Override
        byte[] make() {
            enter();
            vectors.constant(9, 1);
            walk.over(this::vector);
            leave();
            return code.bytes();
        }
    }
}
