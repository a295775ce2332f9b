package dev.tenon.cpu.machine;

/**
 * Adds the instructions for vectors of floats of AVX2, FMA and F16C, with 16 registers of 256 bits. Three operands: the
 * first takes the result.
 */
class VexAssembler extends Assembler {
    /** Maps of opcodes. */
    static final int MAP_0F = 1;

    static final int MAP_0F38 = 2;
    static final int MAP_0F3A = 3;

    /** Prefixes that belong to an opcode. */
    static final int NONE = 0;

    static final int P66 = 1;
    static final int PF3 = 2;

    /** The comparison "one is NaN". */
    static final int UNORDERED = 3;

    /** The comparison "not less than, or unordered", and those like it. */
    static final int NOT_LESS_THAN = 5;

    static final int NOT_AT_MOST = 6;
    static final int NOT_AT_LEAST = 9;

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
        OR(0xEB, true),
        XOR(0xEF, true),
        SUBTRACT_INTEGERS(0xFA, true),
        ADD_INTEGERS(0xFE, true),
        /** All bits where the first is greater; a mask with 512 bits. */
        GREATER(0x66, true),
        MINIMUM_INTEGERS(MAP_0F38, 0x39, true),
        MAXIMUM_INTEGERS(MAP_0F38, 0x3D, true);

        final int map;
        final int opcode;
        final boolean integer;

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

    /** The same to the right; zeros follow. */
    void shiftRight256(int to, int from, int bits) {
        vex(MAP_0F, P66, 0x72, 2, to, from);
        code.write(bits);
    }

    /** The sign of each lane as an integer in all of its bits. */
    void signs256(int to, int from) {
        vex(MAP_0F, P66, 0x72, 4, to, from);
        code.write(31);
    }

    /** All bits of a lane that is NaN; else none. */
    void notNumbers256(int to, int a) {
        vex(MAP_0F, NONE, 0xC2, to, a, a);
        code.write(UNORDERED);
    }

    /** 8 halves as floats. */
    void loadHalves256(int to, Memory from) {
        vex(MAP_0F38, P66, 0x13, to, 0, from);
    }

    /** 8 floats as halves, rounded to even, in the low half of a register. */
    void toHalves256(int to, int from) {
        vex(MAP_0F3A, P66, 0x1D, from, 0, to);
        code.write(0);
    }

    /** The other way. */
    void fromHalves256(int to, int from) {
        vex(MAP_0F38, P66, 0x13, to, 0, from);
    }

    /** 8 unsigned integers of 16 bits as integers of 32 bits. */
    void loadShorts256(int to, Memory from) {
        vex(MAP_0F38, P66, 0x33, to, 0, from);
    }

    /** 8 integers of 16 bits of 32, in the low half of a register. Uses {@code from}. */
    void toShorts256(int to, int from) {
        vex(MAP_0F3A, P66, 0x19, from, 0, to);
        code.write(1);
        vexPrefix(MAP_0F38, P66, to, from, 0, to, false);
        code.write(0x2B);
        code.write(0xC0 | (to & 7) << 3 | to & 7);
    }

    /** 4 floats as doubles. */
    void loadAsDoubles256(int to, Memory from) {
        vex(MAP_0F, NONE, 0x5A, to, 0, from);
    }

    /** 4 doubles as floats, in the low half of a register. */
    void toFloats256(int to, int from) {
        vex(MAP_0F, P66, 0x5A, to, 0, from);
    }

    /** Of 4 doubles, where the operation has no form for integers. */
    void arithmeticOfDoubles256(Arithmetic op, int to, int a, int b) {
        vex(op.map, P66, op.opcode, to, a, b);
    }

    /** The low half of a register. */
    void store128(Memory to, int from) {
        vexPrefix(MAP_0F, NONE, from, 0, to.indexBits(), to.base(), false);
        code.write(0x11);
        operand(from, to, 1);
    }

    /** The same past the caches; the address is a multiple of 16. */
    void storeStream128(Memory to, int from) {
        vexPrefix(MAP_0F, NONE, from, 0, to.indexBits(), to.base(), false);
        code.write(0x2B);
        operand(from, to, 1);
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

    final void vexPrefix(int map, int prefix, int register, int second, int index, int base, boolean wide) {
        code.write(0xC4);
        code.write((register >> 3 & 1 ^ 1) << 7 | (index >> 3 & 1 ^ 1) << 6 | (base >> 3 & 1 ^ 1) << 5 | map);
        code.write((~second & 15) << 3 | (wide ? 4 : 0) | prefix);
    }

    /** The opcode and the operands of a load of a constant, addressed from where the code is. */
    final void constant(int opcode, int register, float value) {
        code.write(opcode);
        code.write((register & 7) << 3 | RBP);
        target(constants.computeIfAbsent(Float.floatToRawIntBits(value), _ -> new Label()));
    }
}
