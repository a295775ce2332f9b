package dev.tenon.cpu.random;

import dev.tenon.core.ir.op.random.Philox;

/**
 * {@link Philox} of neighbouring counters side by side, in loops that the JVM makes vectors of: words of 32 bits in
 * longs. Used by one thread.
 */
final class PhiloxLanes {
    /** Counters that are worked out together. */
    static final int LANES = 64;

    private static final long WORD = 0xFFFFFFFFL;

    private final long[] word0 = new long[LANES];
    private final long[] word1 = new long[LANES];
    private final long[] word2 = new long[LANES];
    private final long[] word3 = new long[LANES];

    /** Works out the words of the counters whose lower halves are {@code low} and those behind it. */
    void fill(long low, long high, long key) {
        for (int i = 0; i < LANES; i++) {
            word0[i] = low + i & WORD;
            word1[i] = low + i >>> 32;
            word2[i] = high & WORD;
            word3[i] = high >>> 32;
        }
        int key0 = (int) key;
        int key1 = (int) (key >>> 32);
        for (int round = 0; round < Philox.ROUNDS; round++) {
            round(key0 & WORD, key1 & WORD);
            key0 += Philox.WEYL_0;
            key1 += Philox.WEYL_1;
        }
    }

    private void round(long key0, long key1) {
        long[] a = word0;
        long[] b = word1;
        long[] c = word2;
        long[] d = word3;
        for (int i = 0; i < LANES; i++) {
            long product0 = Philox.MULTIPLIER_0 * (a[i] & WORD);
            long product1 = Philox.MULTIPLIER_1 * (c[i] & WORD);
            a[i] = product1 >>> 32 ^ b[i] ^ key0;
            c[i] = product0 >>> 32 ^ d[i] ^ key1;
            b[i] = product1 & WORD;
            d[i] = product0 & WORD;
        }
    }

    /** Writes the words as numbers in [0, 1), those of one counter after another. */
    void units(double[] to) {
        for (int i = 0; i < LANES; i++) {
            to[4 * i] = Philox.unit((int) word0[i]);
            to[4 * i + 1] = Philox.unit((int) word1[i]);
            to[4 * i + 2] = Philox.unit((int) word2[i]);
            to[4 * i + 3] = Philox.unit((int) word3[i]);
        }
    }
}
