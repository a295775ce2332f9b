package dev.tenon.cpu.keys;

import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops over keys on the Vector API, for each width of elements. Blocks that lie apart are read side by side: pages of
 * memory that lie one behind the other are looked up one after another. Of eight at once, C2 leaves calls in the loop
 * (tenfold time). A vector that ends with the block may hold elements that were there before.
 */
final class VectorKeys {
    private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Long> LONGS = LongVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private VectorKeys() {}

    /** The fewest elements of a block. */
    static int least(int width) {
        return BYTES.vectorByteSize() / width;
    }

    /** Writes the largest keys of {@link KeyLoops#BLOCKS} blocks as longs. */
    static void largest(Keys keys, MemorySegment x, long at, int n, long apart, MemorySegment to, long toAt) {
        Segments.requireNative(x, to);
        switch (keys.width()) {
            case 1 -> ofBytes(keys, x, at, n, apart, to, toAt);
            case 2 -> ofShorts(keys, x, at, n, apart, to, toAt);
            case 4 -> ofInts(keys, x, at, n, apart, to, toAt);
            default -> ofLongs(keys, x, at, n, apart, to, toAt);
        }
    }

    /** As {@link PlainKeys#next}, for a vector of elements at least. */
    static int next(Keys keys, MemorySegment x, long at, int from, int n, long above) {
        Segments.requireNative(x, x);
        return switch (keys.width()) {
            case 1 -> nextByte(keys, x, at, from, n, (byte) above);
            case 2 -> nextShort(keys, x, at, from, n, (short) above);
            case 4 -> nextInt(keys, x, at, from, n, (int) above);
            default -> nextLong(keys, x, at, from, n, above);
        };
    }

    private static ByteVector key(ByteVector x, byte flip, byte mask, byte addend) {
        ByteVector t = x.lanewise(VectorOperators.XOR, flip);
        ByteVector turned = t.lanewise(VectorOperators.XOR, mask);
        return t.blend(turned, t.lt((byte) 0)).add(addend);
    }

    private static void ofBytes(Keys keys, MemorySegment x, long at, int n, long apart, MemorySegment to, long toAt) {
        byte flip = (byte) keys.flip;
        byte mask = (byte) keys.mask;
        byte addend = (byte) keys.addend;
        int lanes = BYTES.length();
        ByteVector m0 = ByteVector.broadcast(BYTES, Byte.MIN_VALUE);
        ByteVector m1 = m0;
        ByteVector m2 = m0;
        ByteVector m3 = m0;
        for (int i = 0; i < n; i += lanes) {
            long p = at + Math.min(i, n - lanes);
            m0 = m0.max(key(ByteVector.fromMemorySegment(BYTES, x, p, ORDER), flip, mask, addend));
            m1 = m1.max(key(ByteVector.fromMemorySegment(BYTES, x, p + apart, ORDER), flip, mask, addend));
            m2 = m2.max(key(ByteVector.fromMemorySegment(BYTES, x, p + 2 * apart, ORDER), flip, mask, addend));
            m3 = m3.max(key(ByteVector.fromMemorySegment(BYTES, x, p + 3 * apart, ORDER), flip, mask, addend));
        }
        to.set(Raw.I64, toAt, m0.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 8, m1.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 16, m2.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 24, m3.reduceLanes(VectorOperators.MAX));
    }

    private static int nextByte(Keys keys, MemorySegment x, long at, int from, int n, byte above) {
        byte flip = (byte) keys.flip;
        byte mask = (byte) keys.mask;
        byte addend = (byte) keys.addend;
        int lanes = BYTES.length();
        for (int i = from; i < n; i += lanes) {
            int begin = Math.min(i, n - lanes);
            ByteVector x0 = ByteVector.fromMemorySegment(BYTES, x, at + begin, ORDER);
            VectorMask<Byte> better = key(x0, flip, mask, addend).compare(VectorOperators.GT, above);
            long found = better.toLong() >>> (i - begin);
            if (found != 0) {
                return i + Long.numberOfTrailingZeros(found);
            }
        }
        return n;
    }

    private static ShortVector key(ShortVector x, short flip, short mask, short addend) {
        ShortVector t = x.lanewise(VectorOperators.XOR, flip);
        return t.lanewise(
                        VectorOperators.XOR,
                        t.lanewise(VectorOperators.ASHR, 15).and(mask))
                .add(addend);
    }

    private static void ofShorts(Keys keys, MemorySegment x, long at, int n, long apart, MemorySegment to, long toAt) {
        short flip = (short) keys.flip;
        short mask = (short) keys.mask;
        short addend = (short) keys.addend;
        int lanes = SHORTS.length();
        ShortVector m0 = ShortVector.broadcast(SHORTS, Short.MIN_VALUE);
        ShortVector m1 = m0;
        ShortVector m2 = m0;
        ShortVector m3 = m0;
        for (int i = 0; i < n; i += lanes) {
            long p = at + 2L * Math.min(i, n - lanes);
            m0 = m0.max(key(ShortVector.fromMemorySegment(SHORTS, x, p, ORDER), flip, mask, addend));
            m1 = m1.max(key(ShortVector.fromMemorySegment(SHORTS, x, p + apart, ORDER), flip, mask, addend));
            m2 = m2.max(key(ShortVector.fromMemorySegment(SHORTS, x, p + 2 * apart, ORDER), flip, mask, addend));
            m3 = m3.max(key(ShortVector.fromMemorySegment(SHORTS, x, p + 3 * apart, ORDER), flip, mask, addend));
        }
        to.set(Raw.I64, toAt, m0.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 8, m1.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 16, m2.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 24, m3.reduceLanes(VectorOperators.MAX));
    }

    private static int nextShort(Keys keys, MemorySegment x, long at, int from, int n, short above) {
        short flip = (short) keys.flip;
        short mask = (short) keys.mask;
        short addend = (short) keys.addend;
        int lanes = SHORTS.length();
        for (int i = from; i < n; i += lanes) {
            int begin = Math.min(i, n - lanes);
            ShortVector x0 = ShortVector.fromMemorySegment(SHORTS, x, at + 2L * begin, ORDER);
            VectorMask<Short> better = key(x0, flip, mask, addend).compare(VectorOperators.GT, above);
            long found = better.toLong() >>> (i - begin);
            if (found != 0) {
                return i + Long.numberOfTrailingZeros(found);
            }
        }
        return n;
    }

    private static IntVector key(IntVector x, int flip, int mask, int addend) {
        IntVector t = x.lanewise(VectorOperators.XOR, flip);
        return t.lanewise(
                        VectorOperators.XOR,
                        t.lanewise(VectorOperators.ASHR, 31).and(mask))
                .add(addend);
    }

    private static void ofInts(Keys keys, MemorySegment x, long at, int n, long apart, MemorySegment to, long toAt) {
        int flip = (int) keys.flip;
        int mask = (int) keys.mask;
        int addend = (int) keys.addend;
        int lanes = INTS.length();
        IntVector m0 = IntVector.broadcast(INTS, Integer.MIN_VALUE);
        IntVector m1 = m0;
        IntVector m2 = m0;
        IntVector m3 = m0;
        for (int i = 0; i < n; i += lanes) {
            long p = at + 4L * Math.min(i, n - lanes);
            m0 = m0.max(key(IntVector.fromMemorySegment(INTS, x, p, ORDER), flip, mask, addend));
            m1 = m1.max(key(IntVector.fromMemorySegment(INTS, x, p + apart, ORDER), flip, mask, addend));
            m2 = m2.max(key(IntVector.fromMemorySegment(INTS, x, p + 2 * apart, ORDER), flip, mask, addend));
            m3 = m3.max(key(IntVector.fromMemorySegment(INTS, x, p + 3 * apart, ORDER), flip, mask, addend));
        }
        to.set(Raw.I64, toAt, m0.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 8, m1.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 16, m2.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 24, m3.reduceLanes(VectorOperators.MAX));
    }

    private static int nextInt(Keys keys, MemorySegment x, long at, int from, int n, int above) {
        int flip = (int) keys.flip;
        int mask = (int) keys.mask;
        int addend = (int) keys.addend;
        int lanes = INTS.length();
        for (int i = from; i < n; i += lanes) {
            int begin = Math.min(i, n - lanes);
            IntVector x0 = IntVector.fromMemorySegment(INTS, x, at + 4L * begin, ORDER);
            VectorMask<Integer> better = key(x0, flip, mask, addend).compare(VectorOperators.GT, above);
            long found = better.toLong() >>> (i - begin);
            if (found != 0) {
                return i + Long.numberOfTrailingZeros(found);
            }
        }
        return n;
    }

    private static LongVector key(LongVector x, long flip, long mask, long addend) {
        LongVector t = x.lanewise(VectorOperators.XOR, flip);
        return t.lanewise(
                        VectorOperators.XOR,
                        t.lanewise(VectorOperators.ASHR, 63).and(mask))
                .add(addend);
    }

    private static void ofLongs(Keys keys, MemorySegment x, long at, int n, long apart, MemorySegment to, long toAt) {
        long flip = keys.flip;
        long mask = keys.mask;
        long addend = keys.addend;
        int lanes = LONGS.length();
        LongVector m0 = LongVector.broadcast(LONGS, Long.MIN_VALUE);
        LongVector m1 = m0;
        LongVector m2 = m0;
        LongVector m3 = m0;
        for (int i = 0; i < n; i += lanes) {
            long p = at + 8L * Math.min(i, n - lanes);
            m0 = m0.max(key(LongVector.fromMemorySegment(LONGS, x, p, ORDER), flip, mask, addend));
            m1 = m1.max(key(LongVector.fromMemorySegment(LONGS, x, p + apart, ORDER), flip, mask, addend));
            m2 = m2.max(key(LongVector.fromMemorySegment(LONGS, x, p + 2 * apart, ORDER), flip, mask, addend));
            m3 = m3.max(key(LongVector.fromMemorySegment(LONGS, x, p + 3 * apart, ORDER), flip, mask, addend));
        }
        to.set(Raw.I64, toAt, m0.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 8, m1.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 16, m2.reduceLanes(VectorOperators.MAX));
        to.set(Raw.I64, toAt + 24, m3.reduceLanes(VectorOperators.MAX));
    }

    private static int nextLong(Keys keys, MemorySegment x, long at, int from, int n, long above) {
        long flip = keys.flip;
        long mask = keys.mask;
        long addend = keys.addend;
        int lanes = LONGS.length();
        for (int i = from; i < n; i += lanes) {
            int begin = Math.min(i, n - lanes);
            LongVector x0 = LongVector.fromMemorySegment(LONGS, x, at + 8L * begin, ORDER);
            VectorMask<Long> better = key(x0, flip, mask, addend).compare(VectorOperators.GT, above);
            long found = better.toLong() >>> (i - begin);
            if (found != 0) {
                return i + Long.numberOfTrailingZeros(found);
            }
        }
        return n;
    }
}
