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
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;
import java.util.ArrayList;
import java.util.List;

/**
 * The code that turns rows of elements of one, two, four or eight bytes into columns. A tile is as many rows as a
 * vector has elements, and a line of each: 16 bytes of each row at a time lie in a quarter of a vector, rows that
 * follow each other are interleaved there until 32 bits are elements of one column, and these are turned four by four.
 * So each line is read once, and each result is a whole vector. Called as {@link ProductCode} is; the last two pointers
 * are not used.
 */
final class TransposeCode {
    // byte offsets of the arguments, longs

    /** Added to the pointer, as TO is; both are moved on. */
    static final int FROM = 0;

    static final int FROM_STEP = 8;
    static final int TO = 16;
    static final int TO_STEP = 24;
    /** Tiles of rows, at least 1. */
    static final int TILES = 32;

    /** Elements of a row, at least 1; counted down. */
    static final int N = 40;

    private static final int TILES_LEFT = 48;

    /** Bytes of the lines that are done. */
    private static final int DONE = 56;

    /** A tile's lines, one behind the other: rows that are a power of two apart share few places of a cache. */
    private static final int BUFFER = 64;

    private static final int LINE = 64;
    private static final int MOST_ROWS = 64;
    static final int ARGUMENT_BYTES = BUFFER + LINE * MOST_ROWS;

    /** Rows ahead: more of them may share few places of a cache. */
    private static final int AHEAD = 32;

    private static final int QUARTER = 16;
    private static final int FOUR = 4;

    /** Each points to the first row of a quarter. */
    private static final int[] QUARTERS = {R8, R9, R10, R11};

    private static final int[] SAVED = {RBX, RBP, R12, R13, R14, R15};

    private final VectorAssembler code = new VectorAssembler();
    private final VectorCode vectors;
    private final int width;
    private final boolean stream;
    /** Quarters of a vector, and rows of a quarter. */
    private final int quarters;

    private final int rows;

    private TransposeCode(int lanes, int width, boolean stream) {
        this.vectors = VectorCode.of(lanes, code);
        this.width = width;
        this.stream = stream;
        this.quarters = vectors.bytes() / QUARTER;
        this.rows = QUARTER / width;
    }

    /**
     * For elements of so many bytes.
     *
     * @param stream whether results, which are aligned then, go past the caches
     */
    static byte[] of(int lanes, int width, boolean stream) {
        return new TransposeCode(lanes, width, stream).make();
    }

    private static Memory argument(int offset) {
        return Memory.at(RDI, offset);
    }

    private byte[] make() {
        code.entry();
        for (int register : SAVED) {
            code.push(register);
        }
        code.add(RSI, argument(FROM));
        code.store(argument(FROM), RSI);
        code.add(RDX, argument(TO));
        code.store(argument(TO), RDX);
        code.load(R12, argument(TO_STEP));
        code.address(R13, new Memory(R12, R12, 2, 0));
        Label line = new Label();
        code.xor(RAX, RAX);
        code.store(argument(DONE), RAX);
        code.place(line);
        tiles();
        for (int counted : new int[] {DONE, FROM}) {
            code.load(RAX, argument(counted));
            code.addConstant(RAX, LINE);
            code.store(argument(counted), RAX);
        }
        code.multiply(RAX, R12, LINE / width);
        code.add(RAX, argument(TO));
        code.store(argument(TO), RAX);
        code.load(RAX, argument(N));
        code.subtractConstant(RAX, LINE / width);
        code.store(argument(N), RAX);
        code.compareConstant(RAX, 1);
        code.jump(Assembler.NOT_LESS, line);
        if (stream) {
            code.storeFence();
        }
        code.zeroUpper();
        for (int i = SAVED.length - 1; i >= 0; i--) {
            code.pop(SAVED[i]);
        }
        code.ret();
        return code.bytes();
    }

    /** All rows of a line: a tile begins at R14, its results at R15. */
    private void tiles() {
        Label tile = new Label();
        Label group = new Label();
        Label done = new Label();
        Label apart = new Label();
        Label lines = new Label();
        Label first = new Label();
        code.load(R14, argument(FROM));
        code.load(R15, argument(TO));
        code.xor(RCX, RCX);
        code.addConstant(RCX, LINE);
        code.load(RAX, argument(N));
        code.compareConstant(RAX, LINE / width);
        code.jump(Assembler.NOT_LESS, lines);
        code.load(RCX, argument(FROM_STEP)); // less than a line is read where it lies
        code.place(lines);
        code.address(RBX, new Memory(RCX, RCX, 2, 0));
        code.load(RAX, argument(TILES));
        code.store(argument(TILES_LEFT), RAX);
        code.place(tile);
        code.load(RAX, argument(N));
        code.compareConstant(RAX, LINE / width);
        code.jump(Assembler.LESS, apart);
        gather();
        code.address(QUARTERS[0], argument(BUFFER));
        code.jump(first);
        code.place(apart);
        code.move(QUARTERS[0], R14);
        code.place(first);
        code.multiply(RDX, RCX, rows);
        for (int quarter = 1; quarter < quarters; quarter++) {
            code.address(QUARTERS[quarter], new Memory(QUARTERS[quarter - 1], RDX, 1, 0));
        }
        code.move(RBP, R15);
        code.load(RAX, argument(N));
        code.xor(RSI, RSI);
        code.place(group);
        switch (width) {
            case 1 -> bytes(done);
            case 2 -> words(done);
            case 4 -> floats(done);
            default -> doubles(done);
        }
        code.subtractConstant(RAX, QUARTER / width);
        code.compareConstant(RAX, 1);
        code.jump(Assembler.LESS, done);
        advance(QUARTER);
        code.addConstant(RSI, QUARTER);
        code.compareConstant(RSI, LINE);
        code.jump(Assembler.NOT_EQUAL, group);
        code.place(done);
        code.load(RDX, argument(FROM_STEP));
        code.multiply(RDX, RDX, rows * quarters);
        code.add(R14, RDX);
        code.addConstant(R15, vectors.bytes());
        code.load(RDX, argument(TILES_LEFT));
        code.subtractConstant(RDX, 1);
        code.store(argument(TILES_LEFT), RDX);
        code.jump(Assembler.NOT_EQUAL, tile);
    }

    /**
     * Copies the lines of a tile to the buffer. At every other line it asks for two of rows that follow, so many ahead;
     * at the others the last tiles ask for the next lines of the first ones.
     */
    private void gather() {
        Label others = new Label();
        Label ask = new Label();
        Label alone = new Label();
        Label done = new Label();
        int tiles = Math.max(1, AHEAD / (rows * quarters));
        code.load(R9, argument(FROM_STEP));
        code.address(R10, new Memory(R9, R9, 2, 0));
        code.load(RDX, argument(TILES_LEFT));
        code.load(RAX, argument(DONE));
        code.andConstant(RAX, LINE);
        code.jump(Assembler.NOT_EQUAL, others);
        code.compareConstant(RDX, tiles + 1);
        code.jump(Assembler.LESS, alone);
        code.multiply(RDX, R9, AHEAD);
        code.add(RDX, R14);
        code.jump(ask);
        code.place(others);
        code.compareConstant(RDX, tiles + 1);
        code.jump(Assembler.NOT_LESS, alone);
        code.multiply(RDX, RDX, -rows * quarters);
        code.addConstant(RDX, tiles * rows * quarters);
        code.multiply(RDX, R9);
        code.add(RDX, argument(FROM));
        code.addConstant(RDX, LINE);
        code.place(ask);
        gather(true);
        code.jump(done);
        code.place(alone);
        gather(false);
        code.place(done);
    }

    private void gather(boolean ask) {
        Label four = new Label();
        code.move(R8, R14);
        code.address(R11, argument(BUFFER));
        code.xor(RSI, RSI);
        code.addConstant(RSI, Math.max(1, rows * quarters / FOUR));
        code.place(four);
        for (int row = 0; row < FOUR; row++) {
            for (int at = 0; at < LINE; at += vectors.bytes()) {
                vectors.load(row, apart(R8, row).plus(at));
                vectors.store(Memory.at(R11, row * LINE + at), row);
            }
            if (ask) {
                code.prefetchSecond(apart(RDX, row));
                code.prefetchSecond(apart(RDX, row).plus(LINE));
                code.prefetchSecond(apart(RDX, row).plus(2 * LINE - 1)); // of rows that begin within lines
            }
        }
        code.address(R8, new Memory(R8, R9, FOUR, 0));
        if (ask) {
            code.address(RDX, new Memory(RDX, R9, FOUR, 0));
        }
        code.addConstant(R11, FOUR * LINE);
        code.subtractConstant(RSI, 1);
        code.jump(Assembler.NOT_EQUAL, four);
    }

    /** One of four rows, R9 apart; R10 is three times that. */
    private static Memory apart(int base, int row) {
        return switch (row) {
            case 0 -> Memory.at(base, 0);
            case 1 -> new Memory(base, R9, 1, 0);
            case 2 -> new Memory(base, R9, 2, 0);
            default -> new Memory(base, R10, 1, 0);
        };
    }

    private void advance(int bytes) {
        for (int quarter = 0; quarter < quarters; quarter++) {
            code.addConstant(QUARTERS[quarter], bytes);
        }
    }

    /** Moves on by four rows in each quarter. */
    private void advanceRows() {
        for (int quarter = 0; quarter < quarters; quarter++) {
            code.address(QUARTERS[quarter], new Memory(QUARTERS[quarter], RCX, FOUR, 0));
        }
    }

    private void backRows(int count) {
        code.multiply(RDX, RCX, -count);
        for (int quarter = 0; quarter < quarters; quarter++) {
            code.add(QUARTERS[quarter], RDX);
        }
    }

    /** 16 bytes of one of the next four rows of each quarter. */
    private void load(int to, int row) {
        List<Memory> places = new ArrayList<>();
        for (int quarter = 0; quarter < quarters; quarter++) {
            int base = QUARTERS[quarter];
            places.add(
                    switch (row) {
                        case 0 -> Memory.at(base, 0);
                        case 1 -> new Memory(base, RCX, 1, 0);
                        case 2 -> new Memory(base, RCX, 2, 0);
                        default -> new Memory(base, RBX, 1, 0);
                    });
        }
        vectors.loadQuarters(to, places);
    }

    /** A result, the one of that number in the group; ends the tile where there is no such column. */
    private void result(int register, int column, Label done) {
        if (column > 0) {
            code.compareConstant(RAX, column + 1);
            code.jump(Assembler.LESS, done);
        }
        Memory to = switch (column & 3) {
            case 0 -> Memory.at(RBP, 0);
            case 1 -> new Memory(RBP, R12, 1, 0);
            case 2 -> new Memory(RBP, R12, 2, 0);
            default -> new Memory(RBP, R13, 1, 0);
        };
        if (stream) {
            vectors.storeStream(to, register);
        } else {
            vectors.store(to, register);
        }
        if ((column & 3) == 3) {
            code.address(RBP, new Memory(RBP, R12, FOUR, 0));
        }
    }

    private void doubles(Label done) {
        load(0, 0);
        load(1, 1);
        vectors.shuffle(2, 0, 1, 0x44);
        vectors.shuffle(3, 0, 1, 0xEE);
        result(2, 0, done);
        result(3, 1, done);
        code.address(RBP, new Memory(RBP, R12, 2, 0));
    }

    private void floats(Label done) {
        for (int row = 0; row < FOUR; row++) {
            load(row, row);
        }
        turn(0, 0, done);
    }

    /** Four registers of four columns of 32 bits; uses 8 to 11. */
    private void turn(int from, int column, Label done) {
        vectors.interleave(false, 8, from, from + 1);
        vectors.interleave(true, 9, from, from + 1);
        vectors.interleave(false, 10, from + 2, from + 3);
        vectors.interleave(true, 11, from + 2, from + 3);
        for (int i = 0; i < FOUR; i++) {
            vectors.shuffle(from + i, 8 + i / 2, 10 + i / 2, i % 2 == 0 ? 0x44 : 0xEE);
            result(from + i, column + i, done);
        }
    }

    private void words(Label done) {
        for (int pair = 0; pair < FOUR; pair++) {
            load(8, 2 * pair & 3);
            load(9, (2 * pair & 3) + 1);
            vectors.arithmetic(Arithmetic.LOW_WORDS, pair, 8, 9);
            vectors.arithmetic(Arithmetic.HIGH_WORDS, FOUR + pair, 8, 9);
            if (pair == 1) {
                advanceRows();
            }
        }
        backRows(FOUR);
        turn(0, 0, done);
        turn(FOUR, FOUR, done);
    }

    private void bytes(Label done) {
        for (int half = 0; half < 2; half++) {
            if (half == 1) {
                code.compareConstant(RAX, QUARTER / 2 + 1);
                code.jump(Assembler.LESS, done);
            }
            Arithmetic interleave = half == 0 ? Arithmetic.LOW_BYTES : Arithmetic.HIGH_BYTES;
            for (int four = 0; four < FOUR; four++) {
                for (int row = 0; row < FOUR; row++) {
                    load(8 + row, row);
                }
                vectors.arithmetic(interleave, 8, 8, 9);
                vectors.arithmetic(interleave, 10, 10, 11);
                vectors.arithmetic(Arithmetic.LOW_WORDS, four, 8, 10);
                vectors.arithmetic(Arithmetic.HIGH_WORDS, FOUR + four, 8, 10);
                advanceRows();
            }
            backRows(FOUR * FOUR);
            turn(0, half * 2 * FOUR, done);
            turn(FOUR, half * 2 * FOUR + FOUR, done);
        }
    }
}
