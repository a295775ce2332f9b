package dev.tenon.cpu.machine;

/**
 * Adds the instructions for vectors of floats: those of AVX2 and FMA with 16 registers of 256 bits, and those of
 * AVX-512 with 32 registers of 512 bits and masks. Three operands: the first takes the result.
 */
final class VectorAssembler extends Assembler {
    /** Maps of opcodes. */
    private static final int MAP_0F = 1;

    private static final int MAP_0F38 = 2;
    private static final int MAP_0F3A = 3;

    /** Prefixes that belong to an opcode. */
    private static final int NONE = 0;

    private static final int P66 = 1;
    private static final int PF3 = 2;

    /** An operand in memory that stands for every lane. */
    private static final int BROADCAST = 0x10;

    /** The comparison "not less than, or unordered". */
    private static final int NOT_LESS_THAN = 5;

    /** Operations of two vectors. Minimum and maximum are the second operand where either is NaN, or both are zero. */
    enum Arithmetic {
        ADD(0x58, false),
        MULTIPLY(0x59, false),
        SUBTRACT(0x5C, false),
        MINIMUM(0x5D, false),
        DIVIDE(0x5E, false),
        MAXIMUM(0x5F, false),
        /** In each quarter: bytes of the two in turn, of their first halves or their second ones; 16 bits likewise. */
        LOW_BYTES(0x60, true),
        LOW_WORDS(0x61, true),
        HIGH_BYTES(0x68, true),
        HIGH_WORDS(0x69, true),
        /** Of the bits. */
        AND(0xDB, true),
        XOR(0xEF, true),
        ADD_INTEGERS(0xFE, true),
        /** All bits where the first is greater; a mask with 512 bits. */
        GREATER(0x66, true),
        MINIMUM_INTEGERS(MAP_0F38, 0x39, true),
        MAXIMUM_INTEGERS(MAP_0F38, 0x3D, true);

        private final int map;
        private final int opcode;
        private final boolean integer;

        Arithmetic(int opcode, boolean integer) {
            this(MAP_0F, opcode, integer);
        }

        Arithmetic(int map, int opcode, boolean integer) {
            this.map = map;
            this.opcode = opcode;
            this.integer = integer;
        }
    }

    // vectors of AVX2: 16 registers of 256 bits

    void loadFloat(int to, Memory from) {
        single(0x10, to, from);
    }

    void storeFloat(Memory to, int from) {
        single(0x11, from, to);
    }

    /** One float, of which the rest of a loaded register is zero. */
    private void single(int opcode, int register, Memory memory) {
        vexPrefix(MAP_0F, PF3, register, 0, memory.indexBits(), memory.base(), false);
        code.write(opcode);
        operand(register, memory, 1);
    }

    void load256(int to, Memory from) {
        vex(MAP_0F, NONE, 0x10, to, 0, from);
    }

    void store256(Memory to, int from) {
        vex(MAP_0F, NONE, 0x11, from, 0, to);
    }

    /** The lanes whose sign bit the mask has; zero for the others. */
    void loadMasked256(int to, int mask, Memory from) {
        vex(MAP_0F38, P66, 0x2C, to, mask, from);
    }

    void storeMasked256(Memory to, int mask, int from) {
        vex(MAP_0F38, P66, 0x2E, from, mask, to);
    }

    void broadcast256(int to, Memory from) {
        vex(MAP_0F38, P66, 0x18, to, 0, from);
    }

    /** to += a b. */
    void multiplyAdd256(int to, int a, int b) {
        vex(MAP_0F38, P66, 0xB8, to, a, b);
    }

    /** A constant in every lane. */
    void constant256(int to, float value) {
        vexPrefix(MAP_0F38, P66, to, 0, 0, 0, true);
        constant(0x18, to, value);
    }

    void arithmetic256(Arithmetic op, int to, int a, int b) {
        vex(op.map, op.integer ? P66 : NONE, op.opcode, to, a, b);
    }

    void move256(int to, int from) {
        vex(MAP_0F, NONE, 0x28, to, 0, from);
    }

    /** to = to a + b. */
    void multiplyThenAdd256(int to, int a, int b) {
        vex(MAP_0F38, P66, 0xA8, to, a, b);
    }

    /** Bits of each lane, to the left. */
    void shift256(int to, int from, int bits) {
        vex(MAP_0F, P66, 0x72, 6, to, from);
        code.write(bits);
    }

    /** The sign of each lane as an integer in all of its bits. */
    void signs256(int to, int from) {
        vex(MAP_0F, P66, 0x72, 4, to, from);
        code.write(31);
    }

    /** All bits of a lane where a is not less than b, or one is NaN; else none. */
    void notLess256(int to, int a, int b) {
        vex(MAP_0F, NONE, 0xC2, to, a, b);
        code.write(NOT_LESS_THAN);
    }

    void squareRoot256(int to, int from) {
        vex(MAP_0F, NONE, 0x51, to, 0, from);
    }

    /** Past the caches; the address is a multiple of 32. */
    void storeStream256(Memory to, int from) {
        vex(MAP_0F, NONE, 0x2B, from, 0, to);
    }

    /** Four floats, of which the rest of the register is zero. */
    void load128(int to, Memory from) {
        vexPrefix(MAP_0F, NONE, to, 0, from.indexBits(), from.base(), false);
        code.write(0x10);
        operand(to, from, 1);
    }

    /** Four floats in that quarter; the others stay. */
    void insert256(int to, int quarter, Memory from) {
        vex(MAP_0F3A, P66, 0x18, to, to, from);
        code.write(quarter);
    }

    /** In each quarter: a0 b0 a1 b1, or a2 b2 a3 b3. */
    void interleave256(boolean high, int to, int a, int b) {
        vex(MAP_0F, NONE, high ? 0x15 : 0x14, to, a, b);
    }

    /** In each quarter: two floats of a, then two of b, each by two bits of the order, the first in the lowest. */
    void shuffle256(int to, int a, int b, int order) {
        vex(MAP_0F, NONE, 0xC6, to, a, b);
        code.write(order);
    }

    /** The halves of a register in the other order. */
    void swapHalves256(int to, int from) {
        vex(MAP_0F3A, P66, 0x06, to, from, from);
        code.write(1);
    }

    void zero256(int register) {
        vex(MAP_0F, NONE, 0x57, register, register, register);
    }

    /** Orders stores past the caches before later ones. */
    void storeFence() {
        write(0x0F, 0xAE, 0xF8);
    }

    /** What code with 256-bit vectors owes to code without. */
    void zeroUpper() {
        write(0xC5, 0xF8, 0x77);
    }

    private void vex(int map, int prefix, int opcode, int register, int second, Memory memory) {
        vexPrefix(map, prefix, register, second, memory.indexBits(), memory.base(), true);
        code.write(opcode);
        operand(register, memory, 1);
    }

    private void vex(int map, int prefix, int opcode, int register, int second, int third) {
        vexPrefix(map, prefix, register, second, 0, third, true);
        code.write(opcode);
        code.write(0xC0 | (register & 7) << 3 | third & 7);
    }

    private void vexPrefix(int map, int prefix, int register, int second, int index, int base, boolean wide) {
        code.write(0xC4);
        code.write((register >> 3 & 1 ^ 1) << 7 | (index >> 3 & 1 ^ 1) << 6 | (base >> 3 & 1 ^ 1) << 5 | map);
        code.write((~second & 15) << 3 | (wide ? 4 : 0) | prefix);
    }

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

    void signs512(int to, int from) {
        evex(MAP_0F, P66, 0x72, 4, to, from);
        code.write(31);
    }

    /** To whole numbers, half to even. */
    void round512(int to, int from) {
        evex(MAP_0F3A, P66, 0x08, to, 0, from);
        code.write(0);
    }

    /** to = a 2^k for whole k. */
    void scale512(int to, int a, int k) {
        evex(MAP_0F38, P66, 0x2C, to, a, k);
    }

    /** A mask, as the vectors' 256-bit form. */
    void notLess512(int mask, int a, int b) {
        evex(MAP_0F, NONE, 0xC2, mask, a, b);
        code.write(NOT_LESS_THAN);
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

    /** The opcode and the operands of a load of a constant, addressed from where the code is. */
    private void constant(int opcode, int register, float value) {
        code.write(opcode);
        code.write((register & 7) << 3 | RBP);
        target(constants.computeIfAbsent(value, _ -> new Label()));
    }
}
