package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.Assembler.Memory;
import java.util.List;

/** 6 rows of 12 registers, of 16 with 256 bits. */
record Avx2(VectorAssembler code) implements VectorCode {
    @Override
    public int bytes() {
        return 32;
    }

    @Override
    public int rows() {
        return 6;
    }

    @Override
    public int b(int half) {
        return 12 + half;
    }

    @Override
    public int a(int row) {
        return 14 + row % 2;
    }

    @Override
    public void zero(int register) {
        code.zero256(register);
    }

    @Override
    public void load(int to, Memory from) {
        code.load256(to, from);
    }

    @Override
    public void store(Memory to, int from) {
        code.store256(to, from);
    }

    @Override
    public void broadcast(int to, Memory from) {
        code.broadcast256(to, from);
    }

    @Override
    public void multiplyAdd(int to, int a, int b) {
        code.multiplyAdd256(to, a, b);
    }

    @Override
    public void multiplyAddBytes(int to, int a, int b) {
        throw new IllegalStateException("AVX2 has no sums of products of bytes that are exact");
    }

    /** 32 bits a lane, of which the sign counts. */
    @Override
    public void masks(Memory from) {
        for (int half = 0; half < 2; half++) {
            code.load256(b(half), from.plus(32 * half));
        }
    }

    @Override
    public void loadNarrow(int to, int half, Memory from) {
        code.loadMasked256(to, b(half), from);
    }

    @Override
    public void storeNarrow(Memory to, int half, int from) {
        code.storeMasked256(to, b(half), from);
    }

    @Override
    public void keepNarrow(int register) {
        code.arithmetic256(VexAssembler.Arithmetic.AND, register, register, b(0));
    }

    @Override
    public void constant(int to, float value) {
        code.constant256(to, value);
    }

    @Override
    public void arithmetic(VexAssembler.Arithmetic op, int to, int a, int b) {
        code.arithmetic256(op, to, a, b);
    }

    @Override
    public void move(int to, int from) {
        code.move256(to, from);
    }

    @Override
    public void multiplyThenAdd(int to, int a, int b) {
        code.multiplyThenAdd256(to, a, b);
    }

    @Override
    public void shift(int to, int from, int bits) {
        code.shift256(to, from, bits);
    }

    @Override
    public void shiftRight(int to, int from, int bits) {
        code.shiftRight256(to, from, bits);
    }

    @Override
    public void replaceWhereNaN(int to, int x, int other) {
        code.notNumbers256(a(1), x);
        code.arithmetic256(VexAssembler.Arithmetic.XOR, other, other, to);
        code.arithmetic256(VexAssembler.Arithmetic.AND, other, other, a(1));
        code.arithmetic256(VexAssembler.Arithmetic.XOR, to, to, other);
    }

    @Override
    public void signs(int to, int from) {
        code.signs256(to, from);
    }

    @Override
    public void squareRoot(int to, int from) {
        code.squareRoot256(to, from);
    }

    @Override
    public void storeStream(Memory to, int from) {
        code.storeStream256(to, from);
    }

    @Override
    public void loadQuarters(int to, List<Memory> from) {
        code.load128(to, from.getFirst());
        for (int quarter = 1; quarter < from.size(); quarter++) {
            code.insert256(to, quarter, from.get(quarter));
        }
    }

    @Override
    public void interleave(boolean high, int to, int a, int b) {
        code.interleave256(high, to, a, b);
    }

    @Override
    public void shuffle(int to, int a, int b, int order) {
        code.shuffle256(to, a, b, order);
    }

    @Override
    public void spreadQuarters(VexAssembler.Arithmetic op, int register, int other) {
        code.swapHalves256(other, register);
        code.arithmetic256(op, register, register, other);
    }
}
