package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R10;
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

/** What softmax does with columns: their totals, and its results from them. */
final class ColumnSoftmaxCode {
    private ColumnSoftmaxCode() {}

    /**
     * The largest of each column, not below what its row holds before, and the sum of exponentials against it: sums so
     * far shrink as the largest grows. A NaN makes its column's sum one.
     *
     * <p>Where exponentials are kept, y takes them one vector behind the other: of each group of rows and each vector
     * of columns first the largest so far, then one of each row.
     */
    static final class ExpSums extends ColumnCode.Grouped {
        /** Behind the constants: with 32 registers a group is loaded once, for its lines may push each other out. */
        private static final int[] HELD = {20, 21, 22, 23, 24, 25, 27, 28};

        private final boolean kept;

        ExpSums(int lanes, boolean kept) {
            super(lanes);
            this.kept = kept;
        }

        private int held(int row) {
            return vectors.wide() != null ? HELD[row] : 0;
        }

        @Override
        void columns(int rows, boolean narrow) {
            loadColumn(7, RCX, narrow);
            vectors.move(10, 7);
            for (int row = 0; row < rows; row++) {
                loadRow(held(row), row, narrow);
                operate(Arithmetic.MAXIMUM, 10, held(row), 10); // the second where the first is NaN
            }
            walk.store(RCX, 10, narrow);
            if (kept) {
                vectors.store(Memory.at(R12, 0), 10);
            }
            vectors.move(0, 7);
            shiftedExponential(true);
            loadColumn(9, R8, narrow);
            operate(Arithmetic.MULTIPLY, 9, 9, 0);
            vectors.zero(8); // a group's own sum first: fewer roundings of the long one
            for (int row = 0; row < rows; row++) {
                if (held(row) != 0) {
                    vectors.move(0, held(row));
                } else {
                    loadRow(0, row, narrow);
                }
                shiftedExponential(true);
                operate(Arithmetic.ADD, 8, 8, 0);
                if (kept) {
                    vectors.store(Memory.at(R12, (1 + row) * vectors.bytes()), 0);
                }
            }
            operate(Arithmetic.ADD, 8, 8, 9);
            walk.store(R8, 8, narrow);
            if (kept) {
                code.addConstant(R12, (1 + rows) * vectors.bytes());
            }
            askAhead(rows);
        }
    }

    /** Exponentials that are {@link ExpSums kept}, where y was, to the rows of x: times the second row of columns. */
    static final class Scale extends ColumnCode.Grouped {
        private final boolean past;

        /** @param past whether results go past the caches: they are whole vectors, aligned */
        Scale(int lanes, boolean past) {
            super(lanes);
            this.past = past;
        }

        @Override
        void columns(int rows, boolean narrow) {
            loadColumn(10, RCX, narrow);
            vectors.load(0, Memory.at(R12, 0));
            shiftedExponential(true);
            loadColumn(7, R8, narrow);
            operate(Arithmetic.MULTIPLY, 7, 7, 0);
            for (int row = 0; row < rows; row++) {
                vectors.load(0, Memory.at(R12, (1 + row) * vectors.bytes()));
                operate(Arithmetic.MULTIPLY, 0, 0, 7);
                if (narrow) {
                    vectors.storeNarrow(row(row), 0, 0);
                } else if (past) {
                    vectors.storeStream(row(row), 0);
                } else {
                    vectors.store(row(row), 0);
                }
            }
            code.addConstant(R12, (1 + rows) * vectors.bytes());
        }
    }

    /** The softmax of columns of up to {@link #MOST} rows, which registers hold; for 32 registers. */
    static final class Few extends ColumnCode {
        static final int MOST = 8;
        private static final int[] HELD = ExpSums.HELD;
        private final boolean past;
        private int rows;

        /** @param past whether results go past the caches: they are whole vectors, aligned */
        Few(boolean past) {
            super(ColumnCode.LANES);
            this.past = past;
        }

        @Override
        void vector(boolean narrow) {
            code.move(RAX, RSI);
            code.add(RAX, R9);
            code.address(R12, new Memory(RAX, R11, 4, 0));
            code.move(RCX, RDX);
            code.add(RCX, R9);
            code.address(R8, new Memory(RCX, R11, 4, 0));
            for (int row = 0; row < rows; row++) {
                Memory from = row(row < 4 ? RAX : R12, row);
                if (narrow) {
                    vectors.loadNarrow(HELD[row], 0, from);
                } else {
                    vectors.load(HELD[row], from);
                }
                if (row == 0) {
                    vectors.move(10, HELD[0]);
                } else {
                    operate(Arithmetic.MAXIMUM, 10, HELD[row], 10);
                }
            }
            vectors.zero(8);
            for (int row = 0; row < rows; row++) {
                vectors.move(0, HELD[row]);
                shiftedExponential(true);
                vectors.move(HELD[row], 0);
                operate(Arithmetic.ADD, 8, 8, 0);
            }
            operate(Arithmetic.DIVIDE, 8, 9, 8);
            for (int row = 0; row < rows; row++) {
                operate(Arithmetic.MULTIPLY, 0, HELD[row], 8);
                Memory to = row(row < 4 ? RCX : R8, row);
                if (narrow) {
                    vectors.storeNarrow(to, 0, 0);
                } else if (past) {
                    vectors.storeStream(to, 0);
                } else {
                    vectors.store(to, 0);
                }
            }
        }

        @Override
        byte[] make() {
            Label done = new Label();
            enter();
            code.push(RBX);
            code.push(R12);
            begin();
            vectors.constant(9, 1);
            code.load(R11, argument(X_STEP));
            code.move(RBX, R11);
            code.add(RBX, R11);
            code.add(RBX, R11);
            for (rows = 1; rows <= MOST; rows++) {
                Label others = new Label();
                code.load(RAX, argument(ROWS));
                code.compareConstant(RAX, rows);
                code.jump(Assembler.NOT_EQUAL, others);
                walk.over(this::vector);
                code.jump(done);
                code.place(others);
            }
            code.place(done);
            code.storeFence();
            code.pop(R12);
            code.pop(RBX);
            leave();
            return code.bytes();
        }
    }

    /** y = e^(x - the first row) times the second, or x less both. */
    static final class Write extends ColumnCode {
        private final boolean log;

        Write(int lanes, boolean log) {
            super(lanes);
            this.log = log;
        }

        @Override
        void vector(boolean narrow) {
            walk.load(0, RSI, narrow);
            loadColumn(10, RCX, narrow);
            loadColumn(7, R8, narrow);
            if (log) {
                operate(Arithmetic.SUBTRACT, 0, 0, 10);
                operate(Arithmetic.SUBTRACT, 0, 0, 7);
            } else {
                shiftedExponential(true);
                operate(Arithmetic.MULTIPLY, 0, 0, 7);
            }
        }

        @Override
        byte[] make() {
            Label stream = new Label();
            Label done = new Label();
            enter();
            begin();
            code.load(RAX, argument(STREAM));
            code.test(RAX);
            code.jump(Assembler.NOT_EQUAL, stream);
            rows(false);
            code.jump(done);
            code.place(stream);
            rows(true);
            code.storeFence();
            code.place(done);
            leave();
            return code.bytes();
        }

        private void rows(boolean past) {
            Label row = new Label();
            code.place(row);
            code.move(R11, RSI);
            code.add(R11, argument(AHEAD));
            walk.over(narrow -> {
                code.prefetch(RowWalk.at(R11));
                vector(narrow);
                if (past && !narrow) {
                    vectors.storeStream(RowWalk.at(RDX), 0);
                } else {
                    walk.store(RDX, 0, narrow);
                }
            });
            code.add(RSI, argument(X_STEP));
            code.add(RDX, argument(Y_STEP));
            code.load(R10, argument(ROWS));
            code.subtractConstant(R10, 1);
            code.store(argument(ROWS), R10);
            code.jump(Assembler.NOT_EQUAL, row);
        }
    }
}
