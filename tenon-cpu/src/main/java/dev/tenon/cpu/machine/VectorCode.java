package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.Assembler.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * What a kernel says in vectors of one width. A tile of {@link #rows} rows by two vectors takes the first registers,
 * row by row; a row of B two more, an element of A one of the rest.
 *
 * <p>Narrow accesses touch the lanes that {@link #masks} last loaded, for the first or the second vector of a row.
 */
sealed interface VectorCode {
    ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** What is said with vectors of that many floats, 8 or 16. */
    static VectorCode of(int lanes, VectorAssembler code) {
        return lanes == 16 ? new Avx512(code) : new Avx2(code);
    }

    /** Writes what {@link #masks} loads: the first {@code count} lanes of two vectors, one behind the other. */
    static void writeMasks(int lanes, MemorySegment to, long offset, int count) {
        if (lanes == 16) {
            int bits = (int) ((1L << count) - 1);
            to.set(INT, offset, bits & 0xFFFF);
            to.set(INT, offset + 4, bits >>> 16);
            return;
        }
        for (int lane = 0; lane < 2 * lanes; lane++) {
            to.set(INT, offset + 4L * lane, lane < count ? -1 : 0);
        }
    }

    /** Of a vector. */
    int bytes();

    /** The most rows of a tile that registers hold. */
    int rows();

    /** The register of a row of B, {@code half} 0 or 1. */
    int b(int half);

    /** The register of row {@code row}'s element of A: not the same for neighbours, so that they overlap. */
    int a(int row);

    void zero(int register);

    void load(int to, Memory from);

    void store(Memory to, int from);

    void broadcast(int to, Memory from);

    /** to += a b. */
    void multiplyAdd(int to, int a, int b);

    /**
     * Each lane of 32 bits: to += the sum of four products of a byte of a, unsigned, and one of b, signed; wraps. Where
     * {@link Processor#bytes} is.
     */
    void multiplyAddBytes(int to, int a, int b);

    /** May use {@link #b}'s registers and RAX. */
    void masks(Memory from);

    void loadNarrow(int to, int half, Memory from);

    void storeNarrow(Memory to, int half, int from);

    /** Zero in the lanes that the first vector's mask has not. */
    void keepNarrow(int register);

    void constant(int to, float value);

    void arithmetic(VectorAssembler.Arithmetic op, int to, int a, int b);

    void move(int to, int from);

    /** to = to a + b. */
    void multiplyThenAdd(int to, int a, int b);

    /** Bits of each lane, to the left. */
    void shift(int to, int from, int bits);

    /** Zero in the lanes of {@code to} where a is less than b. May use {@link #a a(1)}. */
    void zeroWhereLess(int to, int a, int b);

    /** Past the caches; the address is a multiple of a vector. */
    void storeStream(Memory to, int from);

    /** Four floats from each place, one after another. */
    void loadQuarters(int to, List<Memory> from);

    /** In each quarter: a0 b0 a1 b1, or a2 b2 a3 b3. */
    void interleave(boolean high, int to, int a, int b);

    /** In each quarter: two floats of a, then two of b, each by two bits of the order, the first in the lowest. */
    void shuffle(int to, int a, int b, int order);

    /** Every lane becomes the result over all lanes. Uses {@code other}. */
    default void spread(VectorAssembler.Arithmetic op, int register, int other) {
        spreadQuarters(op, register, other);
        for (int order : new int[] {0x4E, 0xB1}) {
            shuffle(other, register, register, order);
            arithmetic(op, register, register, other);
        }
    }

    /** Each quarter becomes the result over all quarters, lane by lane. */
    void spreadQuarters(VectorAssembler.Arithmetic op, int register, int other);

    /** 12 rows of 24 registers, of 32 with 512 bits. */
    record Avx512(VectorAssembler code) implements VectorCode {
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
        public void arithmetic(VectorAssembler.Arithmetic op, int to, int a, int b) {
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
        public void zeroWhereLess(int to, int a, int b) {
            code.notLess512(3, a, b);
            code.keep512(to, 3, to);
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
        public void spreadQuarters(VectorAssembler.Arithmetic op, int register, int other) {
            for (int order : new int[] {0x4E, 0xB1}) {
                code.quarters512(other, register, order);
                code.arithmetic512(op, register, register, other);
            }
        }
    }

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
            code.arithmetic256(VectorAssembler.Arithmetic.AND, register, register, b(0));
        }

        @Override
        public void constant(int to, float value) {
            code.constant256(to, value);
        }

        @Override
        public void arithmetic(VectorAssembler.Arithmetic op, int to, int a, int b) {
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
        public void zeroWhereLess(int to, int a, int b) {
            code.notLess256(a(1), a, b);
            code.arithmetic256(VectorAssembler.Arithmetic.AND, to, to, a(1));
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
        public void spreadQuarters(VectorAssembler.Arithmetic op, int register, int other) {
            code.swapHalves256(other, register);
            code.arithmetic256(op, register, register, other);
        }
    }
}
