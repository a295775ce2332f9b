package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.Assembler.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel says in vectors of one width. A tile of {@link #rows} rows by two vectors takes the first registers,
 * row by row; a row of B two more, an element of A one of the rest.
 *
 * <p>Narrow accesses touch the lanes that {@link #masks} last loaded, for the first or the second vector of a row.
 */
sealed interface VectorCode permits Avx2, Avx512 {
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

    void arithmetic(VexAssembler.Arithmetic op, int to, int a, int b);

    void move(int to, int from);

    /** to = to a + b. */
    void multiplyThenAdd(int to, int a, int b);

    /** Bits of each lane, to the left. */
    void shift(int to, int from, int bits);

    /** The same to the right; zeros follow. */
    void shiftRight(int to, int from, int bits);

    /** to becomes {@code other} in the lanes where x is NaN. Uses {@code other}, and {@link #a a(1)}. */
    void replaceWhereNaN(int to, int x, int other);

    /** The sign of each lane as an integer in all of its bits. */
    void signs(int to, int from);

    void squareRoot(int to, int from);

    /** Past the caches; the address is a multiple of a vector. */
    void storeStream(Memory to, int from);

    /** Four floats from each place, one after another. */
    void loadQuarters(int to, List<Memory> from);

    /** In each quarter: a0 b0 a1 b1, or a2 b2 a3 b3. */
    void interleave(boolean high, int to, int a, int b);

    /** In each quarter: two floats of a, then two of b, each by two bits of the order, the first in the lowest. */
    void shuffle(int to, int a, int b, int order);

    /** The instructions that the wide form has beyond; null in the other. */
    default @Nullable VectorAssembler wide() {
        return null;
    }

    /** Every lane becomes the result over all lanes. Uses {@code other}. */
    default void spread(VexAssembler.Arithmetic op, int register, int other) {
        spreadQuarters(op, register, other);
        for (int order : new int[] {0x4E, 0xB1}) {
            shuffle(other, register, register, order);
            arithmetic(op, register, register, other);
        }
    }

    /** Each quarter becomes the result over all quarters, lane by lane. */
    void spreadQuarters(VexAssembler.Arithmetic op, int register, int other);
}
