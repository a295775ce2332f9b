package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Functions of two numbers over whole vectors, comparisons and selection: n is a multiple of the vectors' length. */
final class VectorBinary {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final Class<?> NATIVE = Segments.NATIVE;
    private static final int LANES = SPECIES.length();

    /** Bytes, as many as there are floats in a vector; there are no vectors of fewer than 8. */
    private static final VectorSpecies<Byte> BYTES = LANES == 16 ? ByteVector.SPECIES_128 : ByteVector.SPECIES_64;

    /** Whether comparisons and selections have vector loops. */
    static final boolean MASKS = LANES == 16 || LANES == 8;

    private VectorBinary() {}

    static boolean has(BinaryFn fn) {
        return switch (fn) {
            case ADD, SUB, MUL, DIV, MAX, MIN -> true;
            case FLOOR_DIV, MOD, FMOD, POW, PRELU, ATAN2, AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR -> false;
        };
    }

    static void run(
            BinaryFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        switch (fn) {
            case ADD -> add(a, aOffset, b, bOffset, y, yOffset, n);
            case SUB -> sub(a, aOffset, b, bOffset, y, yOffset, n);
            case MUL -> mul(a, aOffset, b, bOffset, y, yOffset, n);
            case DIV -> div(a, aOffset, b, bOffset, y, yOffset, n);
            case MAX -> max(a, aOffset, b, bOffset, y, yOffset, n);
            case MIN -> min(a, aOffset, b, bOffset, y, yOffset, n);
            case FLOOR_DIV, MOD, FMOD, POW, PRELU, ATAN2, AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR ->
                throw new IllegalArgumentException(fn + " has no vector loop");
        }
    }

    private static void add(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .add(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void sub(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .sub(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void mul(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .mul(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void div(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .div(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void max(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .max(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    private static void min(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .min(FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER))
                    .intoMemorySegment(y, yOffset + 4L * i, ORDER);
        }
    }

    static void compare(
            CompareFn fn,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment y,
            long yOffset,
            int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        // the comparison must be a constant to be compiled to an instruction; LT and LE are GT and GE the other way
        // round
        switch (fn) {
            case EQ, NE -> {
                byte equal = (byte) (fn == CompareFn.EQ ? 1 : 0);
                ByteVector other = ByteVector.broadcast(BYTES, 1 - equal);
                for (int i = 0; i < n; i += LANES) {
                    VectorMask<Float> mask = FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                            .compare(
                                    VectorOperators.EQ,
                                    FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER));
                    other.blend(equal, mask.cast(BYTES)).intoMemorySegment(y, yOffset + i, ORDER);
                }
            }
            case GT -> greater(a, aOffset, b, bOffset, y, yOffset, n);
            case LT -> greater(b, bOffset, a, aOffset, y, yOffset, n);
            case GE -> greaterOrEqual(a, aOffset, b, bOffset, y, yOffset, n);
            case LE -> greaterOrEqual(b, bOffset, a, aOffset, y, yOffset, n);
        }
    }

    private static void greater(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        ByteVector zero = ByteVector.zero(BYTES);
        for (int i = 0; i < n; i += LANES) {
            VectorMask<Float> mask = FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .compare(VectorOperators.GT, FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER));
            zero.blend((byte) 1, mask.cast(BYTES)).intoMemorySegment(y, yOffset + i, ORDER);
        }
    }

    private static void greaterOrEqual(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment y, long yOffset, int n) {
        if (a.getClass() != NATIVE || b.getClass() != NATIVE || y.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        ByteVector zero = ByteVector.zero(BYTES);
        for (int i = 0; i < n; i += LANES) {
            VectorMask<Float> mask = FloatVector.fromMemorySegment(SPECIES, a, aOffset + 4L * i, ORDER)
                    .compare(VectorOperators.GE, FloatVector.fromMemorySegment(SPECIES, b, bOffset + 4L * i, ORDER));
            zero.blend((byte) 1, mask.cast(BYTES)).intoMemorySegment(y, yOffset + i, ORDER);
        }
    }

    static void select(Place condition, Place a, Place b, Place y, int n) {
        MemorySegment flags = condition.memory();
        long flagsOffset = condition.offset();
        MemorySegment chosen = a.memory();
        long chosenOffset = a.offset();
        MemorySegment others = b.memory();
        long othersOffset = b.offset();
        MemorySegment to = y.memory();
        long toOffset = y.offset();
        if (flags.getClass() != NATIVE
                || chosen.getClass() != NATIVE
                || others.getClass() != NATIVE
                || to.getClass() != NATIVE) {
            throw Segments.unexpected();
        }
        for (int i = 0; i < n; i += LANES) {
            VectorMask<Float> holds = ByteVector.fromMemorySegment(BYTES, flags, flagsOffset + i, ORDER)
                    .compare(VectorOperators.NE, 0)
                    .cast(SPECIES);
            FloatVector.fromMemorySegment(SPECIES, others, othersOffset + 4L * i, ORDER)
                    .blend(FloatVector.fromMemorySegment(SPECIES, chosen, chosenOffset + 4L * i, ORDER), holds)
                    .intoMemorySegment(to, toOffset + 4L * i, ORDER);
        }
    }
}
