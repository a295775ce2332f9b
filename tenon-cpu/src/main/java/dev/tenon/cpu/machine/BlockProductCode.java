package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDI;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.BlockProductKernel.Format;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;

/**
 * The code of a row of x times 16 rows of packed blocks, a lane each. Weights are unsigned bytes; an element of x is
 * {@code s (p0 + 256 p1 + 65536 p2)} with a scale of its 32 neighbours and three signed bytes. So sums within 32
 * elements are exact; they are scaled and added in f32. The pointers are x, the weights and the result.
 *
 * <p>Vectors: 0 to 5 sums of products by p0, p1 and p2, of low halves of bytes and of high ones; 6 and 7 weights; 8 and
 * 9 scales; 16 the result; 17 and 18 what scales and minima give of a large block; 30 and 31 constants.
 */
final class BlockProductCode {
    // byte offsets of the arguments: longs, of which the first three are added to the pointers
    static final int X = 0;
    static final int W = 8;
    static final int Y = 16;
    /** At least 1. */
    static final int BLOCKS = 24;

    /** Rows of weights. */
    static final int ROWS = 16;

    // 32 elements of x: p0 of each, p1, p2; what sums of each begin at; the scale; the sum of the elements
    static final int X_BYTES = 128;
    static final int PIECE = 32;
    static final int STARTS = 3 * PIECE;
    static final int SCALE = STARTS + 12;
    static final int SUM = SCALE + 4;

    // a block of 16 rows: their scales as halves; where blocks have them minima as halves, then bytes of scales and
    // of minima for each 32 elements; then the weights of four neighbours in x for each row
    static final int HALVES = 2 * ROWS;
    static final int LARGE_SCALES = 2 * HALVES;
    static final int LARGE_MINIMA = LARGE_SCALES + 8 * ROWS;
    static final int LARGE_WEIGHTS = LARGE_MINIMA + 8 * ROWS;
    private static final int VECTOR = 64;

    private final VectorAssembler code = new VectorAssembler();

    private BlockProductCode() {}

    static byte[] of(Format format) {
        return new BlockProductCode().make(format);
    }

    private byte[] make(Format format) {
        code.entry();
        code.add(RSI, argument(X));
        code.add(RDX, argument(W));
        code.add(RCX, argument(Y));
        code.load(RAX, argument(BLOCKS));
        code.zero512(16);
        code.constant512(30, 65536);
        code.constant512(31, Float.intBitsToFloat(0x0F0F_0F0F));
        Label block = new Label();
        code.place(block);
        switch (format) {
            case BYTES -> bytes();
            case NIBBLES -> nibbles();
            case LARGE -> large();
        }
        code.addConstant(RSI, format.runs() * X_BYTES);
        code.addConstant(RDX, format.bytes());
        code.subtractConstant(RAX, 1);
        code.jump(Assembler.NOT_EQUAL, block);
        code.store512(Memory.at(RCX, 0), 16);
        code.zeroUpper();
        code.ret();
        return code.bytes();
    }

    private void bytes() {
        start(0, 0);
        for (int group = 0; group < 8; group++) {
            code.load512(6, Memory.at(RDX, HALVES + group * VECTOR));
            products(0, 6, 0, group);
        }
        addBlock();
    }

    private void nibbles() {
        start(0, 0);
        for (int group = 0; group < 4; group++) {
            loadNibbles(HALVES + group * VECTOR);
            products(0, 6, 0, group);
            products(0, 7, 0, group + 4);
        }
        addBlock();
    }

    private void large() {
        code.zero512(17);
        code.zero512(18);
        for (int pair = 0; pair < 4; pair++) {
            start(0, 2 * pair);
            start(3, 2 * pair + 1);
            for (int group = 0; group < 8; group++) {
                loadNibbles(LARGE_WEIGHTS + (8 * pair + group) * VECTOR);
                products(0, 6, 2 * pair, group);
                products(3, 7, 2 * pair + 1, group);
            }
            addRun(0, 2 * pair);
            addRun(3, 2 * pair + 1);
        }
        code.loadHalves512(8, Memory.at(RDX, 0));
        code.multiplyAdd512(16, 17, 8);
        code.loadHalves512(8, Memory.at(RDX, HALVES));
        code.arithmetic512(Arithmetic.MULTIPLY, 18, 18, 8);
        code.arithmetic512(Arithmetic.SUBTRACT, 16, 16, 18);
    }

    /** Begins the sums of 32 elements. */
    private void start(int sums, int run) {
        for (int piece = 0; piece < 3; piece++) {
            code.broadcast512(sums + piece, x(run, STARTS + 4 * piece));
        }
    }

    /** The low halves of bytes to vector 6, the high ones to 7. */
    private void loadNibbles(int at) {
        code.load512(6, Memory.at(RDX, at));
        code.shiftRight16Of512(7, 6, 4);
        code.arithmetic512(Arithmetic.AND, 6, 6, 31);
        code.arithmetic512(Arithmetic.AND, 7, 7, 31);
    }

    private void products(int sums, int weights, int run, int group) {
        for (int piece = 0; piece < 3; piece++) {
            code.multiplyAddBytes512(sums + piece, weights, x(run, piece * PIECE + 4 * group));
        }
    }

    /** Joins the three sums as a float in the first. */
    private void join(int sums) {
        code.shift512(sums + 1, sums + 1, 8);
        code.arithmetic512(Arithmetic.ADD_INTEGERS, sums, sums, sums + 1);
        code.toFloats512(sums, sums);
        code.toFloats512(sums + 2, sums + 2);
        code.multiplyAdd512(sums, sums + 2, 30);
    }

    private void addBlock() {
        join(0);
        code.loadHalves512(8, Memory.at(RDX, 0));
        code.broadcast512(9, x(0, SCALE));
        code.arithmetic512(Arithmetic.MULTIPLY, 0, 0, 9);
        code.multiplyAdd512(16, 0, 8);
    }

    private void addRun(int sums, int run) {
        join(sums);
        code.broadcast512(9, x(run, SCALE));
        code.arithmetic512(Arithmetic.MULTIPLY, sums, sums, 9);
        code.loadBytes512(8, Memory.at(RDX, LARGE_SCALES + ROWS * run));
        code.toFloats512(8, 8);
        code.multiplyAdd512(17, sums, 8);
        code.broadcast512(9, x(run, SUM));
        code.loadBytes512(8, Memory.at(RDX, LARGE_MINIMA + ROWS * run));
        code.toFloats512(8, 8);
        code.multiplyAdd512(18, 9, 8);
    }

    private static Memory x(int run, int offset) {
        return Memory.at(RSI, run * X_BYTES + offset);
    }

    private static Memory argument(int offset) {
        return Memory.at(RDI, offset);
    }
}
