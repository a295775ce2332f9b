package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R11;
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
 * The code that makes two numbers of each of many rows, of a vector at least: y is pairs. One row at a time, or several
 * side by side that are far apart. The pointers are x, which is moved to RSI, and y, which is moved to R8.
 *
 * <p>Vectors: 0 to 6 what functions work with, 7 another, 9 a sum, 10 the largest; further ones hold two
 * numbers of each row at once.
 */
final class RowFoldCode extends ExponentialCode {
    // byte offsets of further arguments, behind RowCode's

    /** Rows, or those of each that are side by side; counted down. */
    static final int ROWS = SUMS;

    static final int X_STEP = ROWS + 8;

    /** From the walk's place to that of the vector that ends with the row, where that is not whole vectors. */
    static final int BACK = ROWS + 16;

    /** How far ahead lines are asked for. */
    static final int AHEAD = ROWS + 24;

    /** Between rows that are side by side, and between their pairs. */
    static final int X_APART = ROWS + 32;

    static final int Y_APART = ROWS + 40;

    /** Floats: what exponentials of each row are against while they are summed. */
    private static final int SHIFTS = ROWS + 64;

    /** e to 16. Exponentials of more have fewer digits, and give a larger sum. */
    private static final float MOST_SUM = 8.8861e6f;

    private static final int OTHER = 7;
    private static final int NARROW_SECOND = 8;
    private static final int WIDE_FIRST = 16;
    private static final int WIDE_SECOND = 24;

    /** Behind the constants of exponentials. */
    private static final int[] WIDE_LARGEST = {20, 21, 22, 23, 24, 25, 27, 28};

    private static final int[] WIDE_SUMS = {20, 21, 22, 23, 24, 25, 27, 28};

    private static final int ENOUGH = 3;

    /** What a pair is. */
    enum Kind {
        /** The sum of the differences from a scalar, and of their squares. */
        SUMS,
        /** The largest and the smallest {@link MachineRows#key key}. */
        EXTREMES,
        /**
         * The largest of the first vector and the sum of exponentials against it, or NaN: of NaN, of -infinity alone,
         * or where elements are far larger. With vectors of 8 floats as the other.
         */
        EXPONENTIALS,
        /** The largest, and the sum of exponentials against it: NaN of NaN, or where all are -infinity. */
        EXPONENTIALS_AGAINST_LARGEST
    }

    private final Kind kind;
    private final int atOnce;
    private final RowWalk walk = new RowWalk(code, vectors);

    RowFoldCode(int lanes, Kind kind, int atOnce) {
        super(lanes, false, true);
        this.kind = kind;
        this.atOnce = atOnce;
    }

    /** Rows side by side. */
    static int atOnce(int lanes) {
        return lanes == 16 ? 8 : 4;
    }

    private boolean isExponential() {
        return kind == Kind.EXPONENTIALS || kind == Kind.EXPONENTIALS_AGAINST_LARGEST;
    }

    private int first(int row) {
        boolean wide = vectors.wide() != null;
        return isExponential() && wide ? WIDE_LARGEST[row] : wide ? WIDE_FIRST + row : 3 + row;
    }

    private int second(int row) {
        return (vectors.wide() != null ? WIDE_SECOND : NARROW_SECOND) + row;
    }

    @Override
    void begin() {
        if (isExponential()) {
            keepBoundedExponential();
        }
    }

    @Override
    byte[] make() {
        Label row = new Label();
        code.entry();
        code.push(RBX);
        code.add(RSI, argument(X));
        code.move(R8, RDX);
        code.add(R8, argument(Y));
        code.load(R11, argument(X_APART));
        code.move(RBX, R11);
        code.add(RBX, R11);
        code.add(RBX, R11);
        begin();
        code.place(row);
        switch (kind) {
            case SUMS -> sums();
            case EXTREMES -> extremes();
            case EXPONENTIALS -> {
                if (vectors.wide() != null) {
                    exponentialsInOneWalk(vectors.wide());
                } else {
                    exponentials();
                }
            }
            case EXPONENTIALS_AGAINST_LARGEST -> exponentials();
        }
        code.addConstant(R8, RowFoldKernel.PAIR);
        code.add(RSI, argument(X_STEP));
        code.load(RAX, argument(ROWS));
        code.subtractConstant(RAX, 1);
        code.store(argument(ROWS), RAX);
        code.jump(Assembler.NOT_EQUAL, row);
        code.pop(RBX);
        code.zeroUpper();
        code.ret();
        return code.bytes();
    }

    /** RAX to where the walk is in the first row, RDX to the same of the fifth. */
    private void place() {
        code.move(RAX, RSI);
        code.add(RAX, R9);
        if (atOnce > 4) {
            code.address(RDX, new Memory(RAX, R11, 4, 0));
        }
    }

    private void askAhead() {
        code.add(RAX, argument(AHEAD));
        if (atOnce > 4) {
            code.add(RDX, argument(AHEAD));
        }
        for (int row = 0; row < atOnce; row++) {
            code.prefetchSecond(row(row));
        }
    }

    private static Memory row(int row) {
        return ColumnCode.row(row < 4 ? RAX : RDX, row);
    }

    /** Moves to the vectors that end with the rows, some of whose elements were there before. */
    private void stepBack(boolean narrow) {
        if (narrow) {
            code.add(RAX, argument(BACK));
            if (atOnce > 4) {
                code.add(RDX, argument(BACK));
            }
        }
    }

    private void store(int offset, int row) {
        code.move(RCX, R8);
        for (int i = 0; i < row; i++) {
            code.add(RCX, argument(Y_APART));
        }
        code.storeFloat(Memory.at(RCX, offset), 0);
    }

    /** Writes one of the numbers of each row. */
    private void store(Arithmetic op, int offset, int register, int row) {
        vectors.move(0, register);
        vectors.spread(op, 0, OTHER);
        store(offset, row);
    }

    private void sums() {
        vectors.broadcast(2, argument(SCALARS));
        for (int row = 0; row < atOnce; row++) {
            vectors.zero(first(row));
            vectors.zero(second(row));
        }
        walk.over(narrow -> {
            place();
            for (int row = 0; row < atOnce; row++) {
                if (narrow) {
                    vectors.loadNarrow(0, 0, row(row));
                } else {
                    vectors.load(0, row(row));
                }
                operate(Arithmetic.SUBTRACT, 0, 0, 2);
                if (narrow) {
                    vectors.keepNarrow(0);
                }
                operate(Arithmetic.ADD, first(row), first(row), 0);
                vectors.multiplyAdd(second(row), 0, 0);
            }
            askAhead();
        });
        for (int row = 0; row < atOnce; row++) {
            store(Arithmetic.ADD, 0, first(row), row);
            store(Arithmetic.ADD, 4, second(row), row);
        }
    }

    private void extremes() {
        vectors.constant(2, Float.intBitsToFloat(Integer.MAX_VALUE));
        for (int row = 0; row < atOnce; row++) {
            vectors.constant(first(row), Float.intBitsToFloat(Integer.MIN_VALUE));
            vectors.move(second(row), 2);
        }
        walk.over(narrow -> {
            place();
            stepBack(narrow);
            for (int row = 0; row < atOnce; row++) {
                vectors.load(0, row(row));
                vectors.signs(1, 0);
                operate(Arithmetic.AND, 1, 1, 2);
                operate(Arithmetic.XOR, 0, 0, 1);
                operate(Arithmetic.MAXIMUM_INTEGERS, first(row), first(row), 0);
                operate(Arithmetic.MINIMUM_INTEGERS, second(row), second(row), 0);
            }
            askAhead();
        });
        for (int row = 0; row < atOnce; row++) {
            store(Arithmetic.MAXIMUM_INTEGERS, 0, first(row), row);
            store(Arithmetic.MINIMUM_INTEGERS, 4, second(row), row);
        }
    }

    private void exponentialsInOneWalk(VectorAssembler wide) {
        code.xor(R9, R9);
        place();
        for (int row = 0; row < atOnce; row++) {
            vectors.load(0, row(row));
            vectors.spread(Arithmetic.MAXIMUM, 0, OTHER);
            code.storeFloat(shift(row), 0);
            store(0, row);
            vectors.zero(WIDE_SUMS[row]);
        }
        walk.over(narrow -> {
            place();
            for (int row = 0; row < atOnce; row++) {
                if (narrow) {
                    vectors.loadNarrow(0, 0, row(row));
                } else {
                    vectors.load(0, row(row));
                }
                vectors.broadcast(10, shift(row));
                vector(narrow);
                operate(Arithmetic.ADD, WIDE_SUMS[row], WIDE_SUMS[row], 0);
            }
            askAhead();
        });
        vectors.constant(1, MOST_SUM);
        vectors.constant(2, Float.NaN);
        for (int row = 0; row < atOnce; row++) {
            vectors.move(3, WIDE_SUMS[row]);
            vectors.spread(Arithmetic.ADD, 3, OTHER);
            wide.notLess512(ENOUGH, 1, 3);
            vectors.move(0, 2);
            wide.merge512(0, ENOUGH, 3);
            store(4, row);
        }
    }

    private static Memory shift(int row) {
        return argument(SHIFTS + 4 * row);
    }

    /**
     * The largest of all rows at once; then, from a cache, the exponentials of one after another, while the rows that
     * are next come to it.
     */
    private void exponentials() {
        for (int row = 0; row < atOnce; row++) {
            vectors.constant(first(row), Float.NEGATIVE_INFINITY);
        }
        walk.over(narrow -> {
            place();
            stepBack(narrow);
            for (int row = 0; row < atOnce; row++) {
                vectors.load(0, row(row));
                operate(Arithmetic.MAXIMUM, first(row), 0, first(row)); // the second where the first is NaN
            }
        });
        for (int row = 0; row < atOnce; row++) {
            store(Arithmetic.MAXIMUM, 0, first(row), row);
        }
        for (int row = 0; row < atOnce; row++) {
            code.move(RDX, RSI);
            code.move(RCX, R8);
            for (int i = 0; i < row; i++) {
                code.add(RDX, R11);
                code.add(RCX, argument(Y_APART));
            }
            vectors.broadcast(10, Memory.at(RCX, 0));
            vectors.zero(9);
            code.move(RAX, RDX);
            code.add(RAX, argument(X_STEP));
            walk.over(narrow -> {
                if (!narrow) {
                    code.prefetchSecond(RowWalk.at(RAX));
                }
                walk.load(0, RDX, narrow);
                vector(narrow);
                operate(Arithmetic.ADD, 9, 9, 0);
            });
            store(Arithmetic.ADD, 4, 9, row);
        }
    }

    @Override
    void vector(boolean narrow) {
        shiftedExponential(true);
        if (narrow) {
            vectors.keepNarrow(0);
        }
    }
}
