package dev.tenon.cpu.keys;

import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/** The loops of {@link VectorKeys}, an element at a time. */
final class PlainKeys {
    private PlainKeys() {}

    /** The largest key of n elements. */
    static long largest(Keys keys, MemorySegment x, long at, int n) {
        return switch (keys.width()) {
            case 1 -> ofBytes(keys, x, at, n);
            case 2 -> ofShorts(keys, x, at, n);
            case 4 -> ofInts(keys, x, at, n);
            default -> ofLongs(keys, x, at, n);
        };
    }

    private static byte ofBytes(Keys keys, MemorySegment x, long at, int n) {
        int flip = (int) keys.flip;
        int mask = (int) keys.mask;
        int addend = (int) keys.addend;
        byte best = Byte.MIN_VALUE;
        for (int i = 0; i < n; i++) {
            int t = x.get(Raw.I8, at + i) ^ flip;
            best = (byte) Math.max(best, (byte) ((t ^ t >> 31 & mask) + addend));
        }
        return best;
    }

    private static short ofShorts(Keys keys, MemorySegment x, long at, int n) {
        int flip = (int) keys.flip;
        int mask = (int) keys.mask;
        int addend = (int) keys.addend;
        short best = Short.MIN_VALUE;
        for (int i = 0; i < n; i++) {
            int t = x.get(Raw.I16, at + 2L * i) ^ flip;
            best = (short) Math.max(best, (short) ((t ^ t >> 31 & mask) + addend));
        }
        return best;
    }

    private static int ofInts(Keys keys, MemorySegment x, long at, int n) {
        int flip = (int) keys.flip;
        int mask = (int) keys.mask;
        int addend = (int) keys.addend;
        int best = Integer.MIN_VALUE;
        for (int i = 0; i < n; i++) {
            int t = x.get(Raw.I32, at + 4L * i) ^ flip;
            best = Math.max(best, (t ^ t >> 31 & mask) + addend);
        }
        return best;
    }

    private static long ofLongs(Keys keys, MemorySegment x, long at, int n) {
        long flip = keys.flip;
        long mask = keys.mask;
        long addend = keys.addend;
        long best = Long.MIN_VALUE;
        for (int i = 0; i < n; i++) {
            long t = x.get(Raw.I64, at + 8L * i) ^ flip;
            best = Math.max(best, (t ^ t >> 63 & mask) + addend);
        }
        return best;
    }

    /** The first element from one on whose key is above another; n without one. */
    static int next(Keys keys, MemorySegment x, long at, int from, int n, long above) {
        long first = at / keys.width(); // places are whole elements from the memory's begin
        for (int i = from; i < n; i++) {
            if (keys.raw(x, first + i) > above) {
                return i;
            }
        }
        return n;
    }
}
