package dev.tenon.core.ir.op.random;

/**
 * The counter-based generator Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, <a
 * href="https://doi.org/10.1145/2063384.2063405">Parallel Random Numbers: As Easy as 1, 2, 3</a>, 2011): four 32-bit
 * words from a counter of 128 bits and a key of 64. Every device gives the same words for the same counter and key, in
 * any order.
 */
public final class Philox {
    /** What a round multiplies by, and what it adds to the key. */
    public static final long MULTIPLIER_0 = 0xD2511F53L;

    public static final long MULTIPLIER_1 = 0xCD9E8D57L;
    public static final int WEYL_0 = 0x9E3779B9;
    public static final int WEYL_1 = 0xBB67AE85;
    public static final int ROUNDS = 10;
    private static final long WORD = 0xFFFFFFFFL;

    private Philox() {}

    /** The four words of a counter, given as its low and high half, under a key. */
    public static int[] words(long low, long high, long key) {
        int c0 = (int) low;
        int c1 = (int) (low >>> 32);
        int c2 = (int) high;
        int c3 = (int) (high >>> 32);
        int k0 = (int) key;
        int k1 = (int) (key >>> 32);
        for (int round = 0; round < ROUNDS; round++) {
            long product0 = MULTIPLIER_0 * (c0 & WORD);
            long product1 = MULTIPLIER_1 * (c2 & WORD);
            int next0 = (int) (product1 >>> 32) ^ c1 ^ k0;
            int next2 = (int) (product0 >>> 32) ^ c3 ^ k1;
            c1 = (int) product1;
            c3 = (int) product0;
            c0 = next0;
            c2 = next2;
            k0 += WEYL_0;
            k1 += WEYL_1;
        }
        return new int[] {c0, c1, c2, c3};
    }

    /** A number in [0, 1) from the upper 24 bits of a word: exact in f32, so equal on every device. */
    public static double unit(int word) {
        return (word >>> 8) * 0x1p-24;
    }
}
