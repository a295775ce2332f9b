package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;

/**
 * How {@code matmul_rows} makes a product of short sums: pure arithmetic, its constants measured on an H200.
 *
 * @param steps of 64 elements that sums are padded to
 * @param groups blocks that share a tile of rows
 * @param blocks of the launch
 * @param sharedBytes dynamic shared memory of a block
 * @param microseconds that it takes by the model
 */
record RowsPlan(int steps, int groups, int blocks, int sharedBytes, double microseconds) implements WarpgroupPlan {
    private static final int THREADS = 640;
    private static final int TILE = 128;
    private static final int STEP = 64;
    private static final int PART = 128 * 128;
    private static final int STAGES = 7;
    private static final int BOUNDARY = 1024;
    private static final int RESERVED = 1024; // what the kernel declares itself
    private static final int MOST_GROUPS = 16;
    private static final long LEAST_ROWS = 512;
    private static final long MOST_COLUMNS = 1 << 20;

    /** Microseconds of a block's start, and of a tile of results with a short function, another or none. */
    private static final double ENTRY = 3.2;

    private static final double SHORT_TILE = 3.0;
    private static final double TILE_TIME = 5.5;
    private static final double PLAIN_TILE = 2.75;

    /** Why a product of whole chunks is not made so; empty where it is. */
    static String refusal(DType dtype, MatMulShape shape, boolean forced) {
        if (dtype == DType.F32) {
            return "it takes f16 and bf16";
        }
        int most = ProductCatalog.ROWS_STEPS.getLast() * STEP;
        if (shape.k() > most) {
            return "sums of " + shape.k() + " elements; it takes at most " + most;
        }
        return (shape.m() < LEAST_ROWS && !forced) || shape.m() > Integer.MAX_VALUE || shape.n() > MOST_COLUMNS
                ? shape.m() + " rows and " + shape.n() + " columns; it takes " + LEAST_ROWS
                        + " rows and more, and at most " + MOST_COLUMNS + " columns"
                : "";
    }

    /** The plan of a product that is not refused for its sizes; null where a block has too little shared memory. */
    static @Nullable RowsPlan of(DType dtype, MatMulShape shape, Epilogue epilogue, DeviceProperties device) {
        int steps = ProductCatalog.ROWS_STEPS.stream()
                .filter(count -> (long) count * STEP >= shape.k())
                .findFirst()
                .orElseThrow();
        long rows = Math.ceilDiv(shape.m(), (long) TILE);
        int tiles = (int) Math.ceilDiv(shape.n(), (long) TILE);
        double function = WarpgroupProducts.isShort(dtype, epilogue) ? SHORT_TILE : TILE_TIME;
        double tile = epilogue.activation() == null ? PLAIN_TILE : function;
        RowsPlan best = null;
        for (int groups = 1; groups <= Math.min(tiles, MOST_GROUPS); groups++) {
            int each = Math.ceilDiv(tiles, groups);
            long shared = BOUNDARY + (long) (steps + STAGES) * PART + (long) each * TILE * Float.BYTES;
            long blocks = rows * groups;
            if (shared + RESERVED > device.sharedBytesPerBlockOptIn() || blocks > Integer.MAX_VALUE) {
                continue;
            }
            double time =
                    WarpgroupProducts.LAUNCH + Math.ceilDiv(blocks, device.multiprocessors()) * (ENTRY + each * tile);
            if (best == null || time < best.microseconds) {
                best = new RowsPlan(steps, groups, (int) blocks, (int) shared, time);
            }
        }
        return best;
    }

    @Override
    public KernelFile file() {
        return ProductCatalog.MATMUL_ROWS;
    }

    @Override
    public String kernel() {
        return "matmul_rows";
    }

    @Override
    public KernelVariant variant(DType dtype, @Nullable UnaryFn fn, boolean alongB) {
        return ProductCatalog.rows(dtype, fn, steps, alongB);
    }

    @Override
    public int threads() {
        return THREADS;
    }

    @Override
    public int detail() {
        return groups;
    }

    /** {@code matmul_rows, sums of 384, 4 blocks a tile of rows}. */
    @Override
    public String text() {
        return kernel() + ", sums of " + steps * STEP + (groups == 1 ? "" : ", " + groups + " blocks a tile of rows");
    }
}
