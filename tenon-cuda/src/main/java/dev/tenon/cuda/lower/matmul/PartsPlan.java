package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.KernelFile;
import dev.tenon.cuda.kernel.KernelVariant;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;

/**
 * How {@code matmul_parts} makes a product of few tiles, whose sums the blocks of a cluster share: pure arithmetic, its
 * constants measured on an H200.
 *
 * @param tile of a cluster
 * @param steps of 64 elements
 * @param parts of them, a block each
 * @param blocks of the launch
 * @param microseconds that it takes by the model
 */
record PartsPlan(PartsTile tile, int steps, int parts, int blocks, double microseconds) implements WarpgroupPlan {
    private static final int STEP = 64;
    private static final int RESERVED = 1024; // what the kernel declares itself
    private static final int MOST_PARTS = 8;
    private static final int LEAST_COLUMNS = 8; // that a block adds up
    private static final int MOST_TILES = 1 << 20;

    /** Microseconds of a launch with its first operands and last results. */
    private static final double START = 3.4;

    /** Of blocks behind the first of a multiprocessor, and of adding up a part. */
    private static final double ROUND = 1.7;

    private static final double PART = 0.25;

    /** Why a product of whole chunks is not made so; empty where it is. */
    static String refusal(DType dtype, MatMulShape shape, DeviceProperties device) {
        if (dtype == DType.F32) {
            return "it takes f16 and bf16";
        }
        if (tiles(PartsTile.SMALLEST, shape) > MOST_TILES || shape.k() > Integer.MAX_VALUE / 2) {
            return "there are too many tiles";
        }
        return fits(PartsTile.SMALLEST, device) ? "" : "a block has too little shared memory";
    }

    private static boolean fits(PartsTile tile, DeviceProperties device) {
        return tile.sharedBytes() + RESERVED <= device.sharedBytesPerBlockOptIn();
    }

    private static long tiles(PartsTile tile, MatMulShape shape) {
        return SizeMath.product(
                "matmul", Math.ceilDiv(shape.m(), (long) tile.rows()), Math.ceilDiv(shape.n(), (long) tile.columns()));
    }

    /** The fastest plan of a product that is not refused. */
    static PartsPlan of(MatMulShape shape, DeviceProperties device) {
        PartsPlan best = null;
        for (PartsTile tile : PartsTile.ALL) {
            for (int parts = 1; fits(tile, device) && parts <= MOST_PARTS; parts *= 2) {
                PartsPlan plan = of(tile, parts, shape, device);
                if (plan != null && (best == null || plan.microseconds < best.microseconds)) {
                    best = plan;
                }
            }
        }
        if (best == null) {
            throw new IllegalStateException("no tile fits " + shape);
        }
        return best;
    }

    private static @Nullable PartsPlan of(PartsTile tile, int parts, MatMulShape shape, DeviceProperties device) {
        int steps = (int) Math.ceilDiv(shape.k(), (long) STEP);
        if (parts > steps || tile.columns() / parts < LEAST_COLUMNS) {
            return null;
        }
        int blocks = (int) tiles(tile, shape) * parts;
        double rounds = Math.ceil((double) blocks / device.multiprocessors());
        double time = START
                + rounds * Math.ceilDiv(steps, parts) * tile.step()
                + (rounds - 1) * ROUND
                + (parts == 1 ? 0 : parts * PART);
        return new PartsPlan(tile, steps, parts, blocks, time);
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
        return ProductCatalog.parts(dtype, fn, tile.rows(), tile.columns(), alongB);
    }

    @Override
    public int threads() {
        return tile.threads();
    }

    @Override
    public int cluster() {
        return parts;
    }

    @Override
    public int leftRows() {
        return tile.rows();
    }

    @Override
    public int rightRows() {
        return STEP;
    }

    @Override
    public int sharedBytes() {
        return tile.sharedBytes();
    }

    @Override
    public int detail() {
        return steps;
    }

    /** {@code matmul_parts, tiles of 64x64, 4 parts of k}. */
    @Override
    public String text() {
        return kernel() + ", tiles of " + tile + (parts == 1 ? "" : ", " + parts + " parts of k");
    }
}
