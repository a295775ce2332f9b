package dev.tenon.cpu.machine;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Encodes the instructions of x86-64 for general registers, at their full 64 bits unless a name says otherwise, and
 * jumps. Source of the encodings: Intel's Software Developer's Manual, volume 2.
 *
 * <p>Not thread-safe.
 */
class Assembler {
    static final int RAX = 0;
    static final int RCX = 1;
    static final int RDX = 2;
    static final int RBX = 3;
    static final int RSP = 4;
    static final int RBP = 5;
    static final int RSI = 6;
    static final int RDI = 7;
    static final int R8 = 8;
    static final int R9 = 9;
    static final int R10 = 10;
    static final int R11 = 11;
    static final int R12 = 12;
    static final int R13 = 13;
    static final int R14 = 14;
    static final int R15 = 15;

    /** Conditions of jumps, as the instruction encodes them. */
    static final int EQUAL = 0x4;

    static final int NOT_EQUAL = 0x5;
    static final int LESS = 0xC;
    static final int NOT_LESS = 0xD;

    private static final int NO_INDEX = -1;

    final ByteArrayOutputStream code = new ByteArrayOutputStream();
    private final List<Jump> jumps = new ArrayList<>();
    /** The bits of floats that lie behind the code, each where its label says. */
    final Map<Integer, Label> constants = new LinkedHashMap<>();

    /** Whole vectors of them, at multiples of their length. */
    final Map<List<Float>, Label> tables = new LinkedHashMap<>();

    /** A place in the code that jumps go to. */
    static final class Label {
        private int at = -1;
    }

    private record Jump(int at, Label to) {}

    /** Where an operand in memory lies: {@code base + index * scale + displacement}. */
    record Memory(int base, int index, int scale, int displacement) {
        static Memory at(int base, int displacement) {
            return new Memory(base, NO_INDEX, 1, displacement);
        }

        Memory plus(int more) {
            return new Memory(base, index, scale, displacement + more);
        }

        int indexBits() {
            return index == NO_INDEX ? 0 : index;
        }
    }

    /** The code whole: constants behind it, jumps resolved. */
    byte[] bytes() {
        tables.forEach((values, label) -> {
            while (code.size() % (Float.BYTES * values.size()) != 0) {
                code.write(0);
            }
            place(label);
            values.forEach(value -> int32(Float.floatToRawIntBits(value)));
        });
        constants.forEach((bits, label) -> {
            place(label);
            int32(bits);
        });
        ByteBuffer bytes = ByteBuffer.wrap(code.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
        for (Jump jump : jumps) {
            if (jump.to.at < 0) {
                throw new IllegalStateException("a jump goes to a label that has no place");
            }
            bytes.putInt(jump.at, jump.to.at - (jump.at + 4));
        }
        return bytes.array();
    }

    void place(Label label) {
        label.at = code.size();
    }

    // general registers

    void load(int to, Memory from) {
        general(0x8B, to, from);
    }

    void store(Memory to, int from) {
        general(0x89, from, to);
    }

    void load32(int to, Memory from) {
        rex(false, to, from.indexBits(), from.base);
        code.write(0x8B);
        operand(to, from, 1);
    }

    void store32(Memory to, int from) {
        rex(false, from, to.indexBits(), to.base);
        code.write(0x89);
        operand(from, to, 1);
    }

    /** 16 bits, zeros before them. */
    void load16(int to, Memory from) {
        rex(false, to, from.indexBits(), from.base);
        write(0x0F, 0xB7);
        operand(to, from, 1);
    }

    void store16(Memory to, int from) {
        code.write(0x66);
        rex(false, from, to.indexBits(), to.base);
        code.write(0x89);
        operand(from, to, 1);
    }

    void move(int to, int from) {
        general(0x8B, to, from);
    }

    void add(int to, int from) {
        general(0x03, to, from);
    }

    void add(int to, Memory from) {
        general(0x03, to, from);
    }

    void addConstant(int to, int value) {
        immediate(0, to, value);
    }

    void subtractConstant(int to, int value) {
        immediate(5, to, value);
    }

    /** Equal if no bit of the value is set. */
    void andConstant(int to, int value) {
        immediate(4, to, value);
    }

    void compare(int register, Memory with) {
        general(0x3B, register, with);
    }

    void compareConstant(int register, int value) {
        immediate(7, register, value);
    }

    /** Sets the flags from a register; equal if it is zero. */
    void test(int register) {
        general(0x85, register, register);
    }

    void xor(int to, int from) {
        general(0x33, to, from);
    }

    /** The address itself. */
    void address(int to, Memory of) {
        general(0x8D, to, of);
    }

    void shiftRight(int register, int bits) {
        rex(true, 0, 0, register);
        code.write(0xC1);
        code.write(0xC0 | 5 << 3 | register & 7);
        code.write(bits);
    }

    void multiply(int to, int from, int value) {
        general(0x69, to, from);
        int32(value);
    }

    /** to *= from. */
    void multiply(int to, int from) {
        rex(true, to, 0, from);
        write(0x0F, 0xAF, 0xC0 | (to & 7) << 3 | from & 7);
    }

    /** Asks for a line of memory, which need not exist. */
    void prefetch(Memory line) {
        rex(false, 0, line.indexBits(), line.base);
        write(0x0F, 0x18);
        operand(1, line, 1);
    }

    /** The same, for the second cache: rows that lie a power of two apart share few places of the first. */
    void prefetchSecond(Memory line) {
        rex(false, 0, line.indexBits(), line.base);
        write(0x0F, 0x18);
        operand(2, line, 1);
    }

    void push(int register) {
        rex(false, 0, 0, register);
        code.write(0x50 | register & 7);
    }

    void pop(int register) {
        rex(false, 0, 0, register);
        code.write(0x58 | register & 7);
    }

    void ret() {
        code.write(0xC3);
    }

    /** Marks the target of an indirect call, where the processor checks for that. */
    void entry() {
        write(0xF3, 0x0F, 0x1E, 0xFA);
    }

    void cpuid() {
        write(0x0F, 0xA2);
    }

    void xgetbv() {
        write(0x0F, 0x01, 0xD0);
    }

    void jump(Label to) {
        code.write(0xE9);
        target(to);
    }

    void jump(int condition, Label to) {
        write(0x0F, 0x80 | condition);
        target(to);
    }

    final void target(Label to) {
        jumps.add(new Jump(code.size(), to));
        int32(0);
    }

    private void general(int opcode, int register, int other) {
        rex(true, register, 0, other);
        code.write(opcode);
        code.write(0xC0 | (register & 7) << 3 | other & 7);
    }

    private void general(int opcode, int register, Memory memory) {
        rex(true, register, memory.indexBits(), memory.base);
        code.write(opcode);
        operand(register, memory, 1);
    }

    private void immediate(int extension, int register, int value) {
        rex(true, 0, 0, register);
        code.write(0x81);
        code.write(0xC0 | extension << 3 | register & 7);
        int32(value);
    }

    private void rex(boolean wide, int register, int index, int base) {
        int prefix = 0x40 | (wide ? 8 : 0) | (register >> 3 & 1) << 2 | (index >> 3 & 1) << 1 | base >> 3 & 1;
        if (prefix != 0x40) {
            code.write(prefix);
        }
    }

    /** The bytes that name a register and a place in memory. */
    final void operand(int register, Memory memory, int unit) {
        boolean indexed = memory.index != NO_INDEX || (memory.base & 7) == RSP;
        boolean brief = memory.displacement % unit == 0
                && memory.displacement / unit >= Byte.MIN_VALUE
                && memory.displacement / unit <= Byte.MAX_VALUE;
        int mode = memory.displacement == 0 && (memory.base & 7) != RBP ? 0 : brief ? 1 : 2;
        code.write(mode << 6 | (register & 7) << 3 | (indexed ? RSP : memory.base & 7));
        if (indexed) {
            int index = memory.index == NO_INDEX ? RSP : memory.index & 7;
            code.write(Integer.numberOfTrailingZeros(memory.scale) << 6 | index << 3 | memory.base & 7);
        }
        if (mode == 1) {
            code.write(memory.displacement / unit);
        } else if (mode == 2) {
            int32(memory.displacement);
        }
    }

    private void int32(int value) {
        for (int shift = 0; shift < 32; shift += 8) {
            code.write(value >> shift);
        }
    }

    final void write(int... values) {
        for (int value : values) {
            code.write(value);
        }
    }
}
