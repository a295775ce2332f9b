package dev.tenon.core.ir.op;

import java.util.function.LongToIntFunction;

/**
 * Unpacks blocks of a {@link BlockFormat}.
 *
 * @param bytes gives a byte, 0 to 255, by its place
 */
record BlockDecoder(BlockFormat format, LongToIntFunction bytes) {
    /** Bits of a 6-bit number, and of a half byte. */
    private static final int SIX = 63;

    private static final int HALF = 15;

    /** Writes the elements of the block that begins at a byte to {@code out} from {@code to} on. */
    void decode(long block, double[] out, int to) {
        switch (format) {
            case Q4_0, Q4_1, Q5_0, Q5_1 -> small(block, out, to);
            case Q8_0 -> eight(block, out, to);
            case Q2_K -> two(block, out, to);
            case Q3_K -> three(block, out, to);
            case Q4_K, Q5_K -> fourOrFive(block, out, to);
            case Q6_K -> six(block, out, to);
        }
    }

    private int u8(long at) {
        return bytes.applyAsInt(at);
    }

    private int i8(long at) {
        return (byte) bytes.applyAsInt(at);
    }

    private double f16(long at) {
        return Float.float16ToFloat((short) (u8(at) | u8(at + 1) << 8));
    }

    private void small(long block, double[] out, int to) {
        boolean five = format == BlockFormat.Q5_0 || format == BlockFormat.Q5_1;
        boolean shifted = format == BlockFormat.Q4_1 || format == BlockFormat.Q5_1;
        double scale = f16(block);
        long high = block + (shifted ? 4 : 2);
        long low = high + (five ? 4 : 0);
        double offset = shifted ? f16(block + 2) : -scale * (five ? 16 : 8);
        for (int i = 0; i < 32; i++) {
            int q = u8(low + i % 16) >> (i < 16 ? 0 : 4) & HALF;
            if (five) {
                q |= (u8(high + i / 8) >> i % 8 & 1) << 4;
            }
            out[to + i] = scale * q + offset;
        }
    }

    private void eight(long block, double[] out, int to) {
        double scale = f16(block);
        for (int i = 0; i < 32; i++) {
            out[to + i] = scale * i8(block + 2 + i);
        }
    }

    private void two(long block, double[] out, int to) {
        double scale = f16(block + 80);
        double least = f16(block + 82);
        for (int i = 0; i < 256; i++) {
            int sub = u8(block + i / 16);
            int q = u8(block + 16 + i / 128 * 32L + i % 32) >> i % 128 / 32 * 2 & 3;
            out[to + i] = scale * (sub & HALF) * q - least * (sub >> 4);
        }
    }

    private void three(long block, double[] out, int to) {
        double scale = f16(block + 108);
        for (int i = 0; i < 256; i++) {
            int sub = i / 16;
            int low = u8(block + 96 + sub % 8) >> (sub < 8 ? 0 : 4) & HALF;
            int high = u8(block + 104 + sub % 4) >> sub / 4 * 2 & 3;
            int q = u8(block + 32 + i / 128 * 32L + i % 32) >> i % 128 / 32 * 2 & 3;
            boolean set = (u8(block + i % 32) >> i / 32 & 1) != 0;
            out[to + i] = scale * ((low | high << 4) - 32) * (q - (set ? 0 : 4));
        }
    }

    private void fourOrFive(long block, double[] out, int to) {
        boolean five = format == BlockFormat.Q5_K;
        double scale = f16(block);
        double least = f16(block + 2);
        long scales = block + 4;
        long high = block + 16;
        long low = high + (five ? 32 : 0);
        for (int i = 0; i < 256; i++) {
            int sub = i / 32;
            int s;
            int m;
            if (sub < 4) {
                s = u8(scales + sub) & SIX;
                m = u8(scales + sub + 4) & SIX;
            } else {
                s = u8(scales + sub + 4) & HALF | u8(scales + sub - 4) >> 6 << 4;
                m = u8(scales + sub + 4) >> 4 | u8(scales + sub) >> 6 << 4;
            }
            int q = u8(low + i / 64 * 32L + i % 32) >> (sub % 2 == 0 ? 0 : 4) & HALF;
            if (five) {
                q |= (u8(high + i % 32) >> sub & 1) << 4;
            }
            out[to + i] = scale * s * q - least * m;
        }
    }

    private void six(long block, double[] out, int to) {
        double scale = f16(block + 208);
        for (int i = 0; i < 256; i++) {
            int half = i / 128;
            int quarter = i % 128 / 32;
            int low = u8(block + half * 64L + quarter % 2 * 32L + i % 32) >> (quarter < 2 ? 0 : 4) & HALF;
            int high = u8(block + 128 + half * 32L + i % 32) >> quarter * 2 & 3;
            out[to + i] = scale * i8(block + 192 + i / 16) * ((low | high << 4) - 32);
        }
    }
}
