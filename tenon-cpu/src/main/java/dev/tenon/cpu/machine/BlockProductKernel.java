package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A row of x times 16 rows of packed weights by machine code: those of ggml's Q8_0, Q4_0 and Q4_K, turned so that 16
 * rows lie side by side ({@link #turn}), with x in fixed point ({@link #fix}). Thread-safe.
 */
public record BlockProductKernel(CallableCode kernel, Format format) {
    /** Rows of weights that lie side by side. */
    public static final int ROWS = BlockProductCode.ROWS;

    /** Elements of x with a scale of their own. */
    public static final int RUN = 32;

    /** Bytes of such elements in fixed point. */
    public static final int RUN_BYTES = BlockProductCode.X_BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    /** The largest integer of three signed bytes' digits. */
    private static final int LARGEST = 127 << 16;

    /**
     * How many times as large as all its neighbours together an element may be: they have what is left of 24 bits.
     * Where its own weight is zero, that may lose 1e-5 of the sum of their terms.
     */
    private static final float OUTLIER = 8;

    /** Scales of less would lose bits. */
    private static final float LEAST = 0x1p-90f;

    /** Of four signed bytes, which become unsigned. */
    private static final int SIGNS = 0x8080_8080;

    /** What packs the weights. */
    public enum Format {
        /** Q8_0. */
        BYTES(1, 34, 16 * 34, 128),
        /** Q4_0. */
        NIBBLES(1, 18, 16 * 18, 8),
        /** Q4_K. */
        LARGE(8, 144, BlockProductCode.LARGE_WEIGHTS + 2048, 0);

        private final int runs;
        private final int blockBytes;
        private final int bytes;
        /** What a weight has to be less. */
        private final int less;

        Format(int runs, int blockBytes, int bytes, int less) {
            this.runs = runs;
            this.blockBytes = blockBytes;
            this.bytes = bytes;
            this.less = less;
        }

        /** Of 32 elements in a block. */
        public int runs() {
            return runs;
        }

        /** Of a block of 16 rows. */
        public int bytes() {
            return bytes;
        }
    }

    /** @throws IllegalStateException if it cannot run here; the message is the reason */
    public static BlockProductKernel make(Format format) {
        CallableCode.require(16);
        if (!Processor.HERE.bytes()) {
            throw new IllegalStateException("the processor has no exact sums of products of bytes (AVX-512 VNNI)");
        }
        return new BlockProductKernel(CallableCode.of(BlockProductCode.of(format)), format);
    }

    /**
     * y = 16 sums, of x times each row.
     *
     * @param x blocks in fixed point
     * @param w blocks of 16 rows
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if they do not lie within their memory
     */
    public void run(int blocks, Place x, Place w, Place y, MemorySegment arguments) {
        if (blocks <= 0) {
            throw new IllegalArgumentException("no blocks");
        }
        x.check((long) blocks * format.runs * RUN_BYTES);
        w.check((long) blocks * format.bytes);
        y.checkWritable(4L * ROWS);
        arguments.set(LONG, BlockProductCode.X, x.offset());
        arguments.set(LONG, BlockProductCode.W, w.offset());
        arguments.set(LONG, BlockProductCode.Y, y.offset());
        arguments.set(LONG, BlockProductCode.BLOCKS, blocks);
        kernel.call(arguments, x.memory(), w.memory(), y.memory(), MemorySegment.NULL);
    }

    /**
     * Writes elements of x in fixed point; returns whether all of them have one that is near f32's accuracy. Numbers
     * that are not finite have none, nor have tiny ones, nor those beside one that is beyond all measure.
     *
     * @param runs of 32 elements
     */
    public boolean fix(Place x, int runs, Place to) {
        boolean all = true;
        MemorySegment from = x.memory();
        MemorySegment out = to.memory();
        for (int run = 0; run < runs; run++) {
            long at = x.offset() + 4L * RUN * run;
            long put = to.offset() + (long) RUN_BYTES * run;
            float most = 0;
            float sum = 0;
            for (int i = 0; i < RUN; i++) {
                float value = Math.abs(from.get(FLOAT, at + 4L * i));
                most = Math.max(most, value);
                sum += value;
            }
            float rest = sum - most; // zero for what rounding took away too
            boolean even = most <= OUTLIER * rest || isAlone(from, at, most);
            all &= most == 0 || (most >= LEAST && most <= Float.MAX_VALUE && even);
            float scale = most / LARGEST;
            double times = most == 0 ? 0 : LARGEST / (double) most;
            int sum0 = 0;
            int sum1 = 0;
            int sum2 = 0;
            for (int i = 0; i < RUN; i++) {
                int value = (int) Math.rint(from.get(FLOAT, at + 4L * i) * times);
                byte p0 = (byte) value;
                int upper = (value - p0) >> 8;
                byte p1 = (byte) upper;
                int p2 = (upper - p1) >> 8;
                out.set(BYTE, put + i, p0);
                out.set(BYTE, put + BlockProductCode.PIECE + i, p1);
                out.set(BYTE, put + 2 * BlockProductCode.PIECE + i, (byte) p2);
                sum0 += p0;
                sum1 += p1;
                sum2 += p2;
            }
            out.set(INT, put + BlockProductCode.STARTS, -format.less * sum0);
            out.set(INT, put + BlockProductCode.STARTS + 4, -format.less * sum1);
            out.set(INT, put + BlockProductCode.STARTS + 8, -format.less * sum2);
            out.set(FLOAT, put + BlockProductCode.SCALE, scale);
            double total = sum0 + 256.0 * sum1 + 65536.0 * sum2;
            out.set(FLOAT, put + BlockProductCode.SUM, (float) (scale * total));
        }
        return all;
    }

    /** Whether all of 32 elements but one are zero. */
    private static boolean isAlone(MemorySegment from, long at, float most) {
        int others = 0;
        for (int i = 0; i < RUN; i++) {
            float value = Math.abs(from.get(FLOAT, at + 4L * i));
            others += value == 0 ? 0 : 1;
        }
        return others == 1 && most > 0;
    }

    /**
     * Turns a block of up to 16 rows; those that are missing become zero.
     *
     * @param from where the first row has the block
     * @param stride from a row to the next
     */
    public void turn(MemorySegment from, long at, long stride, int rows, MemorySegment to, long put) {
        to.asSlice(put, format.bytes).fill((byte) 0);
        for (int row = 0; row < rows; row++) {
            long block = at + row * stride;
            MemorySegment.copy(from, block, to, put + 2L * row, 2);
            switch (format) {
                case BYTES -> quarters(from, block + 2, RUN, to, put + BlockProductCode.HALVES, row, SIGNS);
                case NIBBLES -> quarters(from, block + 2, RUN / 2, to, put + BlockProductCode.HALVES, row, 0);
                case LARGE -> large(from, block, row, to, put);
            }
        }
    }

    /** Puts four neighbours of each row together, with some of their bits turned. */
    private static void quarters(
            MemorySegment from, long at, int count, MemorySegment to, long put, int row, int turned) {
        for (int i = 0; i < count; i += 4) {
            to.set(INT, put + (long) i * ROWS + 4L * row, from.get(INT, at + i) ^ turned);
        }
    }

    private static void large(MemorySegment from, long block, int row, MemorySegment to, long put) {
        MemorySegment.copy(from, block + 2, to, put + BlockProductCode.HALVES + 2L * row, 2);
        for (int run = 0; run < 8; run++) {
            int low = from.get(BYTE, block + 4 + run) & 0xFF;
            int high = from.get(BYTE, block + 8 + run) & 0xFF;
            int scale = low & 63;
            int least = high & 63;
            if (run >= 4) { // six bits of each, two of which lie apart
                int first = from.get(BYTE, block + run) & 0xFF;
                scale = high & 15 | first >> 6 << 4;
                least = high >> 4 | low >> 6 << 4;
            }
            to.set(BYTE, put + BlockProductCode.LARGE_SCALES + (long) ROWS * run + row, (byte) scale);
            to.set(BYTE, put + BlockProductCode.LARGE_MINIMA + (long) ROWS * run + row, (byte) least);
        }
        quarters(from, block + 16, 128, to, put + BlockProductCode.LARGE_WEIGHTS, row, 0);
    }

    /** Whether the scales of a block are numbers. */
    public boolean isFinite(MemorySegment from, long block) {
        boolean finite = isFiniteHalf(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, block));
        return format == Format.LARGE
                ? finite && isFiniteHalf(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, block + 2))
                : finite;
    }

    private static boolean isFiniteHalf(short bits) {
        return (bits & 0x7C00) != 0x7C00;
    }

    /** Bytes of a block of one row, as it comes. */
    public int blockBytes() {
        return format.blockBytes;
    }
}
