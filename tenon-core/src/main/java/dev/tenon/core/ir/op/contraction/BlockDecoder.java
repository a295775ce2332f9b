package dev.tenon.core.ir.op.contraction;

/** Unpacks blocks of a {@link BlockFormat}. Stateless. */
public final class BlockDecoder {
    /** Bits of a 6-bit number, and of a half byte. */
    private static final int SIX = 63;

    private static final int HALF = 15;

    private BlockDecoder() {}

    /**
     * Writes the elements of a block to {@code out} from {@code to} on.
     *
     * @param block {@link BlockFormat#bytes} of them
     * @param out has room for {@link BlockFormat#elements}
     */
    public static void decode(BlockFormat format, byte[] block, double[] out, int to) {
        switch (format) {
            case Q4_0, Q4_1, Q5_0, Q5_1 -> small(format, block, out, to);
            case Q8_0 -> eight(block, out, to);
            case Q2_K -> two(block, out, to);
            case Q3_K -> three(block, out, to);
            case Q4_K, Q5_K -> fourOrFive(format, block, out, to);
            case Q6_K -> six(block, out, to);
        }
    }

    private static int u8(byte[] block, int at) {
        return block[at] & 0xFF;
    }

    private static int i8(byte[] block, int at) {
        return block[at];
    }

    private static double f16(byte[] block, int at) {
        return Float.float16ToFloat((short) (u8(block, at) | u8(block, at + 1) << 8));
    }

    private static void small(BlockFormat format, byte[] block, double[] out, int to) {
        boolean five = format == BlockFormat.Q5_0 || format == BlockFormat.Q5_1;
        boolean shifted = format == BlockFormat.Q4_1 || format == BlockFormat.Q5_1;
        double scale = f16(block, 0);
        int high = (shifted ? 4 : 2);
        int low = high + (five ? 4 : 0);
        double offset = shifted ? f16(block, 2) : -scale * (five ? 16 : 8);
        for (int i = 0; i < 32; i++) {
            int q = u8(block, low + i % 16) >> (i < 16 ? 0 : 4) & HALF;
            if (five) {
                q |= (u8(block, high + i / 8) >> i % 8 & 1) << 4;
            }
            out[to + i] = scale * q + offset;
        }
    }

    private static void eight(byte[] block, double[] out, int to) {
        double scale = f16(block, 0);
        for (int i = 0; i < 32; i++) {
            out[to + i] = scale * i8(block, 2 + i);
        }
    }

    private static void two(byte[] block, double[] out, int to) {
        double scale = f16(block, 80);
        double least = f16(block, 82);
        for (int i = 0; i < 256; i++) {
            int sub = u8(block, i / 16);
            int q = u8(block, 16 + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3;
            out[to + i] = scale * (sub & HALF) * q - least * (sub >> 4);
        }
    }

    private static void three(byte[] block, double[] out, int to) {
        double scale = f16(block, 108);
        for (int i = 0; i < 256; i++) {
            int sub = i / 16;
            int low = u8(block, 96 + sub % 8) >> (sub < 8 ? 0 : 4) & HALF;
            int high = u8(block, 104 + sub % 4) >> sub / 4 * 2 & 3;
            int q = u8(block, 32 + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3;
            boolean set = (u8(block, i % 32) >> i / 32 & 1) != 0;
            out[to + i] = scale * ((low | high << 4) - 32) * (q - (set ? 0 : 4));
        }
    }

    private static void fourOrFive(BlockFormat format, byte[] block, double[] out, int to) {
        boolean five = format == BlockFormat.Q5_K;
        double scale = f16(block, 0);
        double least = f16(block, 2);
        int scales = 4;
        int high = 16;
        int low = high + (five ? 32 : 0);
        for (int sub = 0; sub < 8; sub++) {
            int s;
            int m;
            if (sub < 4) {
                s = u8(block, scales + sub) & SIX;
                m = u8(block, scales + sub + 4) & SIX;
            } else {
                s = u8(block, scales + sub + 4) & HALF | u8(block, scales + sub - 4) >> 6 << 4;
                m = u8(block, scales + sub + 4) >> 4 | u8(block, scales + sub) >> 6 << 4;
            }
            double factor = scale * s;
            double offset = least * m;
            int from = low + sub / 2 * 32;
            int shift = sub % 2 * 4;
            for (int i = 0; i < 32; i++) {
                int q = block[from + i] >> shift & HALF;
                if (five) {
                    q |= (block[high + i] >> sub & 1) << 4;
                }
                out[to + sub * 32 + i] = factor * q - offset;
            }
        }
    }

    private static void six(byte[] block, double[] out, int to) {
        double scale = f16(block, 208);
        for (int sub = 0; sub < 16; sub++) {
            int half = sub / 8;
            int quarter = sub % 8 / 2;
            int column = sub % 2 * 16;
            double factor = scale * i8(block, 192 + sub);
            int from = half * 64 + quarter % 2 * 32 + column;
            int shift = quarter < 2 ? 0 : 4;
            int high = 128 + half * 32 + column;
            for (int i = 0; i < 16; i++) {
                int q = block[from + i] >> shift & HALF | (block[high + i] >> quarter * 2 & 3) << 4;
                out[to + sub * 16 + i] = factor * (q - 32);
            }
        }
    }
}
