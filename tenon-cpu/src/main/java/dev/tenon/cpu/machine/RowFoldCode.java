package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VectorAssembler.Arithmetic;

/**
 * The code that makes two numbers of each of many rows, of a vector at least: y is pairs. The pointers are x and y.
 *
 * <p>Vectors: 8 and 9 what becomes the pair, 10 the largest, 11 the limit of exponentials.
 */
final class RowFoldCode extends ExponentialCode {
    // byte offsets of further arguments, behind RowCode's
    static final int ROWS = SUMS;
    static final int X_STEP = ROWS + 8;
    /** From the walk's place to that of the vector that ends with the row, where that is not whole vectors. */
    static final int BACK = ROWS + 16;

    private static final int OTHER = 7;

    /** What a pair is. */
    enum Kind {
        /** The sum, and the sum of squares. */
        SUMS,
        /** The largest and the smallest {@link MachineRows#key key}. */
        EXTREMES,
        /** The largest, and the sum of exponentials against it: NaN where there is one, or where all are -infinity. */
        EXPONENTIALS
    }

    private final Kind kind;
    private final RowWalk walk = new RowWalk(code, vectors);

    RowFoldCode(int lanes, Kind kind) {
        super(lanes, false, true);
        this.kind = kind;
    }

    @Override
    void begin() {
        if (kind == Kind.EXPONENTIALS) {
            keepBoundedExponential();
            vectors.constant(11, Exponential.LOW);
        } else if (kind == Kind.EXTREMES) {
            vectors.constant(11, Float.intBitsToFloat(Integer.MAX_VALUE));
        }
    }

    @Override
    byte[] make() {
        Label row = new Label();
        code.entry();
        code.add(RSI, argument(X));
        code.add(RDX, argument(Y));
        begin();
        code.place(row);
        code.move(R11, RSI);
        code.add(R11, argument(X_STEP));
        switch (kind) {
            case SUMS -> sums();
            case EXTREMES -> extremes();
            case EXPONENTIALS -> exponentials();
        }
        code.storeFloat(Memory.at(RDX, 0), 8);
        code.storeFloat(Memory.at(RDX, 4), 9);
        code.addConstant(RDX, 8);
        code.add(RSI, argument(X_STEP));
        code.load(RAX, argument(ROWS));
        code.subtractConstant(RAX, 1);
        code.store(argument(ROWS), RAX);
        code.jump(Assembler.NOT_EQUAL, row);
        code.zeroUpper();
        code.ret();
        return code.bytes();
    }

    /** The vector at the walk's place, or the last of the row, some of whose elements were there before. */
    private void loadOverlapping(boolean narrow) {
        if (narrow) {
            code.move(RCX, RSI);
            code.add(RCX, argument(BACK));
            vectors.load(0, new Memory(RCX, R9, 1, 0));
        } else {
            walk.load(0, RSI, false);
        }
    }

    private void sums() {
        vectors.zero(8);
        vectors.zero(9);
        walk.over(narrow -> {
            code.prefetch(RowWalk.at(R11));
            walk.load(0, RSI, narrow);
            operate(Arithmetic.ADD, 8, 8, 0);
            vectors.multiplyAdd(9, 0, 0);
        });
        vectors.spread(Arithmetic.ADD, 8, OTHER);
        vectors.spread(Arithmetic.ADD, 9, OTHER);
    }

    private void extremes() {
        vectors.constant(8, Float.intBitsToFloat(Integer.MIN_VALUE));
        vectors.move(9, 11);
        walk.over(narrow -> {
            code.prefetch(RowWalk.at(R11));
            loadOverlapping(narrow);
            vectors.signs(1, 0);
            operate(Arithmetic.AND, 1, 1, 11);
            operate(Arithmetic.XOR, 0, 0, 1);
            operate(Arithmetic.MAXIMUM_INTEGERS, 8, 8, 0);
            operate(Arithmetic.MINIMUM_INTEGERS, 9, 9, 0);
        });
        vectors.spread(Arithmetic.MAXIMUM_INTEGERS, 8, OTHER);
        vectors.spread(Arithmetic.MINIMUM_INTEGERS, 9, OTHER);
    }

    private void exponentials() {
        vectors.constant(10, Float.NEGATIVE_INFINITY);
        walk.over(narrow -> {
            loadOverlapping(narrow);
            operate(Arithmetic.MAXIMUM, 10, 0, 10); // the second where the first is NaN
        });
        vectors.spread(Arithmetic.MAXIMUM, 10, OTHER);
        vectors.zero(9);
        walk.over(narrow -> {
            code.prefetch(RowWalk.at(R11));
            walk.load(0, RSI, narrow);
            vector(narrow);
            operate(Arithmetic.ADD, 9, 9, 0);
        });
        vectors.spread(Arithmetic.ADD, 9, OTHER);
        vectors.move(8, 10);
    }

    @Override
    void vector(boolean narrow) {
        shiftedExponential(true);
        if (narrow) {
            vectors.keepNarrow(0);
        }
    }
}
