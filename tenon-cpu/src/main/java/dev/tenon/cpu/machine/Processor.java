package dev.tenon.cpu.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The vectors of an x86-64 processor, as it says itself and as far as the operating system saves them.
 *
 * @param avx2 256 bits, with fused multiply-add
 * @param avx512 512 bits, with the parts that every server processor has (F, BW, DQ, VL)
 * @param bytes sums of products of bytes in vectors of 512 bits (VNNI)
 */
record Processor(boolean avx2, boolean avx512, boolean bytes) {
    private static final int FMA = 1 << 12;
    private static final int OSXSAVE = 1 << 27;
    private static final int AVX = 1 << 28;
    private static final int AVX2 = 1 << 5;
    private static final int AVX512 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    /** Registers that the system saves: those of SSE and AVX, then those of AVX-512. */
    private static final int SAVES_AVX = 0x6;

    private static final int SAVES_AVX512 = 0xE6;

    /** This one. */
    static final Processor HERE = here();

    private static final int VNNI = 1 << 11;

    /** Words of what the code answers: ECX of leaf 1, EBX of leaf 7, XCR0, ECX of leaf 7. */
    private static final int WORDS = 4;

    /** Runs {@code cpuid}. */
    private static Processor here() {
        CallableCode ask = CallableCode.of(code());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment words = arena.allocate(ValueLayout.JAVA_INT, WORDS);
            ask.call(words, MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL);
            return of(
                    words.getAtIndex(ValueLayout.JAVA_INT, 0),
                    words.getAtIndex(ValueLayout.JAVA_INT, 1),
                    words.getAtIndex(ValueLayout.JAVA_INT, 2),
                    words.getAtIndex(ValueLayout.JAVA_INT, 3));
        }
    }

    private static Processor of(int leaf1, int leaf7, int saved, int more7) {
        boolean avx2 = (leaf1 & (FMA | AVX)) == (FMA | AVX) && (leaf7 & AVX2) != 0 && (saved & SAVES_AVX) == SAVES_AVX;
        boolean avx512 = avx2 && (leaf7 & AVX512) == AVX512 && (saved & SAVES_AVX512) == SAVES_AVX512;
        return new Processor(avx2, avx512, avx512 && (more7 & VNNI) != 0);
    }

    /** {@code void f(int* words)}; words stay zero where the processor has no answer. */
    private static byte[] code() {
        Assembler code = new Assembler();
        Assembler.Label done = new Assembler.Label();
        code.entry();
        code.push(Assembler.RBX);
        leaf(code, 0);
        code.move(Assembler.R8, Assembler.RAX);
        leaf(code, 1);
        code.store32(word(0), Assembler.RCX);
        code.compareConstant(Assembler.R8, 7);
        code.jump(Assembler.LESS, done);
        code.move(Assembler.R9, Assembler.RCX);
        leaf(code, 7);
        code.store32(word(1), Assembler.RBX);
        code.store32(word(3), Assembler.RCX);
        code.andConstant(Assembler.R9, OSXSAVE);
        code.jump(Assembler.EQUAL, done); // xgetbv is no instruction then
        code.xor(Assembler.RCX, Assembler.RCX);
        code.xgetbv();
        code.store32(word(2), Assembler.RAX);
        code.place(done);
        code.pop(Assembler.RBX);
        code.ret();
        return code.bytes();
    }

    private static void leaf(Assembler code, int leaf) {
        code.xor(Assembler.RAX, Assembler.RAX);
        code.addConstant(Assembler.RAX, leaf);
        code.xor(Assembler.RCX, Assembler.RCX);
        code.cpuid();
    }

    private static Assembler.Memory word(int index) {
        return Assembler.Memory.at(Assembler.RDI, 4 * index);
    }
}
