package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.Assembler.Memory;
import java.util.List;

/** 12 rows of 24 registers, of 32 with 512 bits. */
record Avx512(VectorAssembler code) implements VectorCode {
    @Override
    public VectorAssembler wide() {
        return code;
    }

    @Override
    public int bytes() {
        return 64;
    }

    @Override
    public int rows() {
        return 12;
    }

    @Override
    public int b(int half) {
        return 24 + half;
    }

    @Override
    public int a(int row) {
        return 26 + row % 6;
    }

    @Override
    public void zero(int register) {
        code.zero512(register);
    }

    @Override
    public void load(int to, Memory from) {
        code.load512(to, from);
    }

    @Override
    public void store(Memory to, int from) {
        code.store512(to, from);
    }

    @Override
    public void broadcast(int to, Memory from) {
        code.broadcast512(to, from);
    }

    @Override
    public void multiplyAdd(int to, int a, int b) {
        code.multiplyAdd512(to, a, b);
    }

    @Override
    public void multiplyAddBytes(int to, int a, int b) {
        code.multiplyAddBytes512(to, a, b);
    }

    /** 16 bits a vector, 32 bits apart. */
    @Override
    public void masks(Memory from) {
        for (int half = 0; half < 2; half++) {
            code.load32(Assembler.RAX, from.plus(4 * half));
            code.mask(1 + half, Assembler.RAX);
        }
    }

    @Override
    public void loadNarrow(int to, int half, Memory from) {
        code.loadMasked512(to, 1 + half, from);
    }

    @Override
    public void storeNarrow(Memory to, int half, int from) {
        code.storeMasked512(to, 1 + half, from);
    }

    @Override
    public void keepNarrow(int register) {
        code.keep512(register, 1, register);
    }

    @Override
    public void constant(int to, float value) {
        code.constant512(to, value);
    }

    @Override
    public void arithmetic(VexAssembler.Arithmetic op, int to, int a, int b) {
        code.arithmetic512(op, to, a, b);
    }

    @Override
    public void move(int to, int from) {
        code.move512(to, from);
    }

    @Override
    public void multiplyThenAdd(int to, int a, int b) {
        code.multiplyThenAdd512(to, a, b);
    }

    @Override
    public void shift(int to, int from, int bits) {
        code.shift512(to, from, bits);
    }

    @Override
    public void shiftRight(int to, int from, int bits) {
        code.shiftRight512(to, from, bits);
    }

    @Override
    public void replaceWhereNaN(int to, int x, int other) {
        code.notNumbers512(3, x);
        code.merge512(to, 3, other);
    }

    @Override
    public void signs(int to, int from) {
        code.signs512(to, from);
    }

    @Override
    public void squareRoot(int to, int from) {
        code.squareRoot512(to, from);
    }

    @Override
    public void storeStream(Memory to, int from) {
        code.storeStream512(to, from);
    }

    @Override
    public void loadQuarters(int to, List<Memory> from) {
        code.load128(to, from.getFirst());
        for (int quarter = 1; quarter < from.size(); quarter++) {
            code.insert512(to, quarter, from.get(quarter));
        }
    }

    @Override
    public void interleave(boolean high, int to, int a, int b) {
        code.interleave512(high, to, a, b);
    }

    @Override
    public void shuffle(int to, int a, int b, int order) {
        code.shuffle512(to, a, b, order);
    }

    @Override
    public void spreadQuarters(VexAssembler.Arithmetic op, int register, int other) {
        for (int order : new int[] {0x4E, 0xB1}) {
            code.quarters512(other, register, order);
            code.arithmetic512(op, register, register, other);
        }
    }
}
