package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;

/**
 * How {@code matmul_parts} makes a product of few tiles, whose sums the blocks of a cluster share: pure arithmetic, its
 * constants measured on an H200.
 *
 * @param steps of 128 bytes
 * @param parts of them, a block each
 * @param blocks of the launch
 * @param microseconds that it takes by the model
 */
record PartsPlan(int steps, int parts, int blocks, double microseconds) implements WarpgroupPlan {
    private static final int THREADS = 160;
    private static final int SIDE = 64; // of a tile
    private static final int LINE = 128; // bytes of a step, per row and column
    private static final int STAGES = 8;
    private static final int PADDING = 8;
    private static final int SHARED = 1024 + STAGES * 2 * SIDE * LINE + SIDE * (SIDE + PADDING) * Float.BYTES;
    private static final int RESERVED = 1024; // what the kernel declares itself
    private static final int MOST_PARTS = 8;
    private static final int MOST_TILES = 1 << 20;

    /** Microseconds of a launch with its first operands and last results, and of a step. */
    private static final double START = 1.7;

    private static final double STEP = 0.155;

    /** Of each block behind the first of a multiprocessor; of a cluster's meeting, and for each of its blocks. */
    private static final double ROUND = 3.5;

    private static final double MEETING = 1.3;
    private static final double PART = 0.22;

    /** Why a product of whole chunks is not made so; empty where it is. */
    static String refusal(MatMulShape shape, DeviceProperties device) {
        if (tiles(shape) > MOST_TILES || shape.k() > Integer.MAX_VALUE / 2) {
            return "there are more than " + MOST_TILES + " tiles";
        }
        return SHARED + RESERVED <= device.sharedBytesPerBlockOptIn() ? "" : "a block has too little shared memory";
    }

    private static long tiles(MatMulShape shape) {
        return SizeMath.product("matmul", Math.ceilDiv(shape.m(), (long) SIDE), Math.ceilDiv(shape.n(), (long) SIDE));
    }

    /** The fastest plan of a product that is not refused. */
    static PartsPlan of(DType dtype, MatMulShape shape, DeviceProperties device) {
        int steps = (int) Math.ceilDiv(shape.k(), (long) RingTile.step(dtype));
        int tiles = (int) tiles(shape);
        PartsPlan best = of(steps, 1, tiles, device.multiprocessors());
        for (int parts = 2; parts <= Math.min(steps, MOST_PARTS); parts *= 2) {
            PartsPlan plan = of(steps, parts, tiles, device.multiprocessors());
            // clusters wait until all their blocks have room
            if (plan.blocks <= device.multiprocessors() && plan.microseconds < best.microseconds) {
                best = plan;
            }
        }
        return best;
    }

    private static PartsPlan of(int steps, int parts, int tiles, int multiprocessors) {
        int blocks = tiles * parts;
        int rounds = Math.ceilDiv(blocks, multiprocessors);
        double time = START
                + (double) rounds * Math.ceilDiv(steps, parts) * STEP
                + (rounds - 1) * ROUND
                + (parts == 1 ? 0 : MEETING + parts * PART);
        return new PartsPlan(steps, parts, blocks, time);
    }

    @Override
    public KernelFile file() {
        return ProductCatalog.MATMUL_PARTS;
    }

    @Override
    public String kernel() {
        return "matmul_parts";
    }

    @Override
    public KernelVariant variant(DType dtype, @Nullable UnaryFn fn, boolean alongB) {
        return ProductCatalog.parts(dtype, fn, alongB);
    }

    @Override
    public int threads() {
        return THREADS;
    }

    @Override
    public int cluster() {
        return parts;
    }

    @Override
    public int leftRows() {
        return SIDE;
    }

    @Override
    public int rightRows() {
        return SIDE;
    }

    @Override
    public boolean takesResidual() {
        return true;
    }

    @Override
    public int sharedBytes() {
        return SHARED;
    }

    @Override
    public int detail() {
        return steps;
    }

    /** {@code matmul_parts, 4 parts of k}. */
    @Override
    public String text() {
        return kernel() + (parts == 1 ? "" : ", " + parts + " parts of k");
    }
}
