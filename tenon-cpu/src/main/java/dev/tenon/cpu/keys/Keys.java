package dev.tenon.cpu.keys;

import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/**
 * How elements of a type become keys: signed integers of as many bits, the better element the larger one. With t = bits
 * ^ flip a key is t ^ (sign of t & mask) + addend, which wraps: the mask turns negative floats around, the addend moves
 * NaN of both signs to one end. Equal values may have several keys, of which {@link #canonical} makes one:
 * zeros of both signs, and all NaN.
 */
public final class Keys {
    private enum NaNs {
        NONE,
        FIRST,
        LAST
    }

    private final int bits;
    private final boolean isFloat;
    private final NaNs nans;
    final long flip;
    final long mask;
    final long addend;
    /** The best key of a number, or the worst where NaN is last. */
    private final long bound;

    private Keys(DType dtype, boolean largest, NaNs nans) {
        bits = dtype.bits();
        isFloat = dtype.isFloat();
        this.nans = isFloat ? nans : NaNs.NONE;
        long sign = 1L << (bits - 1);
        flip = extended(largest ? 0 : isFloat ? sign : -1);
        mask = isFloat ? sign - 1 : 0;
        long infinity = isFloat ? infinity(dtype) : 0;
        long first = sign + infinity + 1;
        addend = extended(isFloat ? (nans == NaNs.FIRST ? first : -first) : dtype.isUnsigned() ? sign : 0);
        bound = extended(nans == NaNs.FIRST ? infinity + addend : ~infinity + addend);
    }

    /** Whether there are keys of that type: of numbers of whole bytes. */
    public static boolean has(DType dtype) {
        return !Raw.isPacked(dtype) && dtype != DType.BOOL;
    }

    /** The largest or the smallest first; NaN before all. */
    public static Keys ofExtremes(DType dtype, boolean largest) {
        return new Keys(dtype, largest, NaNs.FIRST);
    }

    /** The largest or the smallest first; NaN counts as the largest. */
    public static Keys ofOrder(DType dtype, boolean largest) {
        return new Keys(dtype, largest, largest ? NaNs.FIRST : NaNs.LAST);
    }

    /** The bits of the largest number: infinity, where there is one. */
    private static long infinity(DType dtype) {
        return switch (dtype) {
            case F64 -> 0x7FF0_0000_0000_0000L;
            case F32 -> 0x7F80_0000L;
            case F16 -> 0x7C00;
            case BF16 -> 0x7F80;
            case F8E5M2 -> 0x7C;
            case F8E4M3 -> 0x7E;
            case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
                throw new IllegalArgumentException(dtype + " has no infinity");
        };
    }

    private long extended(long value) {
        return value << (64 - bits) >> (64 - bits);
    }

    /** Bytes of an element. */
    public int width() {
        return bits / 8;
    }

    /** No key is less. */
    public long least() {
        return -1L << (bits - 1);
    }

    private long most() {
        return ~least();
    }

    /** The canonical key of an element. */
    public long key(MemorySegment x, long index) {
        return canonical(raw(x, index));
    }

    long raw(MemorySegment x, long index) {
        return switch (bits) {
            case 64 -> of(x.get(Raw.I64, 8 * index));
            case 32 -> of(x.get(Raw.I32, 4 * index));
            case 16 -> of(x.get(Raw.I16, 2 * index));
            default -> of(x.get(Raw.I8, index));
        };
    }

    /** @param element its bits, extended by their sign */
    long of(long element) {
        long t = element ^ flip;
        return extended((t ^ t >> 63 & mask) + addend);
    }

    /** The largest key of values that are equal to that of a key. */
    public long canonical(long key) {
        if (isFloat) {
            boolean noNumber = nans == NaNs.FIRST ? key > bound : key < bound;
            return noNumber ? (nans == NaNs.FIRST ? most() : bound - 1) : key == addend - 1 ? addend : key;
        }
        return key;
    }

    /** The largest key of values that are worse than that of a canonical key; itself without one. */
    public long worse(long key) {
        if (isFloat) {
            boolean zero = key == addend;
            boolean first = nans == NaNs.FIRST && key > bound;
            boolean last = nans == NaNs.LAST && key < bound;
            return last || key == least() ? key : first ? bound : zero ? key - 2 : key - 1;
        }
        return key == least() ? key : key - 1;
    }
}
