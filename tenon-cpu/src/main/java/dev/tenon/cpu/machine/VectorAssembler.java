package dev.tenon.cpu.machine;

import java.util.ArrayList;
import java.util.List;

/** Adds the instructions of AVX-512, with 32 registers of 512 bits and masks, to those of {@link VexAssembler}. */
final class VectorAssembler extends VexAssembler {
    /** An operand in memory that stands for every lane. */
    private static final int BROADCAST = 0x10;

    // vectors of AVX-512: 32 registers of 512 bits, and masks

    void load512(int to, Memory from) {
        evex(MAP_0F, NONE, 0x10, to, 0, from, 0, 64);
    }

    /** The lanes of the mask; zero for the others. */
    void loadMasked512(int to, int mask, Memory from) {
        evex(MAP_0F, NONE, 0x10, to, 0, from, 0x80 | mask, 64);
    }

    void store512(Memory to, int from) {
        evex(MAP_0F, NONE, 0x11, from, 0, to, 0, 64);
    }

    void storeMasked512(Memory to, int mask, int from) {
        evex(MAP_0F, NONE, 0x11, from, 0, to, mask, 64);
    }

    void broadcast512(int to, Memory from) {
        evex(MAP_0F38, P66, 0x18, to, 0, from, 0, 4);
    }

    /** to += a b. */
    void multiplyAdd512(int to, int a, int b) {
        evex(MAP_0F38, P66, 0xB8, to, a, b);
    }

    /** Each lane of 32 bits: to += the sum of four products of a byte of a, unsigned, and one of b, signed. */
    void multiplyAddBytes512(int to, int a, int b) {
        evex(MAP_0F38, P66, 0x50, to, a, b);
    }

    /** The same with four bytes of b in memory for every lane. */
    void multiplyAddBytes512(int to, int a, Memory b) {
        evex(MAP_0F38, P66, 0x50, to, a, b, BROADCAST, 4);
    }

    /** Signed integers of 32 bits as floats. */
    void toFloats512(int to, int from) {
        evex(MAP_0F, NONE, 0x5B, to, 0, from);
    }

    /** 16 halves as floats. */
    void loadHalves512(int to, Memory from) {
        evex(MAP_0F38, P66, 0x13, to, 0, from, 0, 32);
    }

    /** The lanes of the mask; zero for the others. */
    void loadHalvesMasked512(int to, int mask, Memory from) {
        evex(MAP_0F38, P66, 0x13, to, 0, from, 0x80 | mask, 32);
    }

    /** 16 floats as halves, rounded to even, in the low half of a register. */
    void toHalves512(int to, int from) {
        evex(MAP_0F3A, P66, 0x1D, from, 0, to);
        code.write(0);
    }

    /** The other way. */
    void fromHalves512(int to, int from) {
        evex(MAP_0F38, P66, 0x13, to, 0, from);
    }

    /** 16 floats as halves, rounded to even; with a mask other than 0 its lanes alone. */
    void storeHalves512(Memory to, int mask, int from) {
        evex(MAP_0F3A, P66, 0x1D, from, 0, to, mask, 32);
        code.write(0);
    }

    /** 16 unsigned integers of 16 bits as integers of 32 bits; with a mask other than 0 zero for all but its lanes. */
    void loadShorts512(int to, int mask, Memory from) {
        evex(MAP_0F38, P66, 0x33, to, 0, from, mask == 0 ? 0 : 0x80 | mask, 32);
    }

    /** The low 16 bits of each lane, in the low half of a register. */
    void toShorts512(int to, int from) {
        evex(MAP_0F38, PF3, 0x33, from, 0, to);
    }

    /** The low 16 bits of each lane; with a mask other than 0 its lanes alone. */
    void storeShorts512(Memory to, int mask, int from) {
        evex(MAP_0F38, PF3, 0x33, from, 0, to, mask, 32);
    }

    /** 16 unsigned bytes as integers of 32 bits. */
    void loadBytes512(int to, Memory from) {
        evex(MAP_0F38, P66, 0x31, to, 0, from, 0, 16);
    }

    /** Bits of each 16, to the right. */
    void shiftRight16Of512(int to, int from, int bits) {
        evex(MAP_0F, P66, 0x71, 2, to, from);
        code.write(bits);
    }

    void constant512(int to, float value) {
        evexPrefix(MAP_0F38, P66, to, 0, 0, 0, 0);
        constant(0x18, to, value);
    }

    void arithmetic512(Arithmetic op, int to, int a, int b) {
        evex(op.map, op.integer ? P66 : NONE, op.opcode, to, a, b);
    }

    /** -a b - to. */
    void negativeMultiplySubtract512(int to, int a, int b) {
        evex(MAP_0F38, P66, 0xBE, to, a, b);
    }

    /** The smaller of the magnitudes; one that is NaN is passed over. */
    void smallerMagnitude512(int to, int a, int b) {
        evex(MAP_0F3A, P66, 0x50, to, a, b);
        code.write(0b1010);
    }

    /** Of 16 floats behind the code those that the low four bits of each lane of the index name. */
    void choose512(int to, int index, float[] table) {
        List<Float> values = new ArrayList<>();
        for (float value : table) {
            values.add(value);
        }
        evexPrefix(MAP_0F38, P66, to, index, 0, 0, 0);
        code.write(0x16);
        code.write((to & 7) << 3 | RBP);
        target(tables.computeIfAbsent(values, _ -> new Label()));
    }

    void move512(int to, int from) {
        evex(MAP_0F, NONE, 0x28, to, 0, from);
    }

    void multiplyThenAdd512(int to, int a, int b) {
        evex(MAP_0F38, P66, 0xA8, to, a, b);
    }

    void shift512(int to, int from, int bits) {
        evex(MAP_0F, P66, 0x72, 6, to, from);
        code.write(bits);
    }

    void shiftRight512(int to, int from, int bits) {
        evex(MAP_0F, P66, 0x72, 2, to, from);
        code.write(bits);
    }

    void signs512(int to, int from) {
        evex(MAP_0F, P66, 0x72, 4, to, from);
        code.write(31);
    }

    /** To whole numbers, half to even. */
    void round512(int to, int from) {
        evex(MAP_0F3A, P66, 0x08, to, 0, from);
        code.write(0);
    }

    /** What is above or below the nearest whole number. */
    void fraction512(int to, int from) {
        evex(MAP_0F3A, P66, 0x56, to, 0, from);
        code.write(0);
    }

    /** to = a 2^k, k rounded down. */
    void scale512(int to, int a, int k) {
        evex(MAP_0F38, P66, 0x2C, to, a, k);
    }

    /** A mask of the lanes where a is not less than b, or one is NaN. */
    void notLess512(int mask, int a, int b) {
        evex(MAP_0F, NONE, 0xC2, mask, a, b);
        code.write(NOT_LESS_THAN);
    }

    /** A mask of the lanes of which one of those comparisons is true. */
    void compare512(int comparison, int mask, int a, Memory b) {
        evex(MAP_0F, NONE, 0xC2, mask, a, b, 0, 64);
        code.write(comparison);
    }

    /** A mask of the lanes that are NaN. */
    void notNumbers512(int mask, int a) {
        evex(MAP_0F, NONE, 0xC2, mask, a, a);
        code.write(UNORDERED);
    }

    /** Zero in the lanes that the mask has not. */
    void keep512(int to, int mask, int from) {
        merge512(to, 0x80 | mask, from);
    }

    /** The others stay. */
    void merge512(int to, int mask, int from) {
        evexPrefix(MAP_0F, NONE, to, 0, from >> 4 & 1, from >> 3 & 1, mask);
        code.write(0x28);
        code.write(0xC0 | (to & 7) << 3 | from & 7);
    }

    void squareRoot512(int to, int from) {
        evex(MAP_0F, NONE, 0x51, to, 0, from);
    }

    /** Past the caches; the address is a multiple of 64. */
    void storeStream512(Memory to, int from) {
        evex(MAP_0F, NONE, 0x2B, from, 0, to, 0, 64);
    }

    /** Four floats in that quarter; the others stay. */
    void insert512(int to, int quarter, Memory from) {
        evexPrefix(MAP_0F3A, P66, to, to, from.indexBits() >> 3 & 1, from.base() >> 3 & 1, 0);
        code.write(0x18);
        operand(to, from, 16);
        code.write(quarter);
    }

    /** As {@link #interleave256}. */
    void interleave512(boolean high, int to, int a, int b) {
        evex(MAP_0F, NONE, high ? 0x15 : 0x14, to, a, b);
    }

    /** As {@link #shuffle256}. */
    void shuffle512(int to, int a, int b, int order) {
        evex(MAP_0F, NONE, 0xC6, to, a, b);
        code.write(order);
    }

    /** Whole quarters, each by two bits of the order, the first in the lowest. */
    void quarters512(int to, int from, int order) {
        evex(MAP_0F3A, P66, 0x23, to, from, from);
        code.write(order);
    }

    void zero512(int register) {
        evex(MAP_0F, P66, 0xEF, register, register, register);
    }

    /** The low 16 bits of a general register as a mask. */
    void mask(int to, int from) {
        vexPrefix(MAP_0F, NONE, to, 0, 0, from, false);
        code.write(0x92);
        code.write(0xC0 | (to & 7) << 3 | from & 7);
    }

    /** Equal if a mask has no lane. */
    void testMask(int mask) {
        testMasks(mask, mask);
    }

    /** Equal if neither mask has a lane. */
    void testMasks(int a, int b) {
        vexPrefix(MAP_0F, NONE, a, 0, 0, b, false);
        code.write(0x98);
        code.write(0xC0 | (a & 7) << 3 | b & 7);
    }

    /** @param unit what a displacement of one byte counts in */
    private void evex(int map, int prefix, int opcode, int register, int second, Memory memory, int masking, int unit) {
        evexPrefix(map, prefix, register, second, memory.indexBits() >> 3 & 1, memory.base() >> 3 & 1, masking);
        code.write(opcode);
        operand(register, memory, unit);
    }

    private void evex(int map, int prefix, int opcode, int register, int second, int third) {
        evexPrefix(map, prefix, register, second, third >> 4 & 1, third >> 3 & 1, 0);
        code.write(opcode);
        code.write(0xC0 | (register & 7) << 3 | third & 7);
    }

    private void evexPrefix(int map, int prefix, int register, int second, int x, int b, int masking) {
        code.write(0x62);
        code.write((register >> 3 & 1 ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (register >> 4 & 1 ^ 1) << 4 | map);
        code.write((~second & 15) << 3 | 4 | prefix);
        code.write(masking & (0x80 | BROADCAST) | 2 << 5 | (second >> 4 & 1 ^ 1) << 3 | masking & 7);
    }
}
