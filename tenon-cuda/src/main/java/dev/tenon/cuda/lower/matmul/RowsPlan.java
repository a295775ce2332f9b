package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;

/**
 * How {@code matmul_rows} makes a product of short sums with an activation, and whether that is sooner than a library's
 * product and a second pass over its result: pure arithmetic, its constants measured on an H200.
 *
 * @param steps of 64 elements that sums are padded to
 * @param groups blocks that share a tile of rows
 * @param blocks of the launch
 * @param sharedBytes dynamic shared memory of a block
 * @param microseconds that it takes by the model
 */
record RowsPlan(int steps, int groups, int blocks, int sharedBytes, double microseconds) {
    static final int THREADS = 640;
    private static final int CAPABILITY = 90;
    private static final int TILE = 128;
    private static final int STEP = 64;
    private static final int PART = 128 * 128;
    private static final int STAGES = 7;
    private static final int BOUNDARY = 1024;
    private static final int RESERVED = 1024; // what the kernel declares itself
    private static final int PACK = 8;
    private static final int MOST_GROUPS = 16;
    private static final long LEAST_ROWS = 512;
    private static final long MOST_COLUMNS = 1 << 20;

    /** Microseconds of a launch, of a block's start, and of a tile of results with a short function or another. */
    private static final double LAUNCH = 2.5;

    private static final double ENTRY = 3.2;
    private static final double SHORT_TILE = 3.0;
    private static final double TILE_TIME = 5.5;

    /** The same without a function. */
    private static final double PLAIN_TILE = 2.75;

    /** Of our other products' model, a microsecond. */
    private static final double CLOCKS = 1700;

    /** Of a library, a microsecond: multiplications and additions, bytes; of a second pass, results. */
    private static final double PRODUCTS = 280e6;

    private static final double BYTES = 3.2e6;
    private static final double SHORT_RESULTS = 0.85e6;
    private static final double RESULTS = 0.53e6;

    /**
     * Whether there is a choice: a product has an activation that libraries leave to another pass, or none and no
     * library makes it.
     *
     * @param library whether a library makes it otherwise
     */
    static boolean concerns(DType dtype, Epilogue epilogue, boolean library) {
        if (dtype != DType.F16 && dtype != DType.BF16) {
            return false;
        }
        return epilogue.activation() == null
                ? !library
                : ProductCatalog.ROWS_FUNCTIONS.contains(epilogue.activation().fn());
    }

    /**
     * Why a product that it concerns is made otherwise; empty where it is not.
     *
     * @param specific whether code for the device's own form can be compiled
     */
    static String refusal(
            DType dtype,
            MatMulShape shape,
            Epilogue epilogue,
            DeviceProperties device,
            boolean specific,
            ProductForm form) {
        if (form != ProductForm.BY_CHOICE && form != ProductForm.ROWS) {
            return "other products are asked for";
        }
        if (device.architecture().number() != CAPABILITY) {
            return "compute capability " + device.architecture() + " is not 9.0";
        }
        if (!specific) {
            return "no compiler for sm_90a";
        }
        if (!shape.batch().isEmpty() || shape.transposeA() || epilogue.residual()) {
            return "it takes one matrix along k and no residual";
        }
        int most = ProductCatalog.ROWS_STEPS.getLast() * STEP;
        if (shape.k() == 0 || shape.k() > most || shape.k() % PACK != 0 || shape.n() % PACK != 0) {
            return "sums of " + shape.k() + " elements and " + shape.n() + " columns; it takes sums of 8 to " + most
                    + ", both in eights";
        }
        boolean forced = form == ProductForm.ROWS;
        if ((shape.m() < LEAST_ROWS && !forced) || shape.m() > Integer.MAX_VALUE || shape.n() > MOST_COLUMNS) {
            return shape.m() + " rows and " + shape.n() + " columns; it takes " + LEAST_ROWS
                    + " rows and more, and at most " + MOST_COLUMNS + " columns";
        }
        RowsPlan plan = of(dtype, shape, epilogue, device);
        if (plan == null) {
            return "a block has too little shared memory";
        }
        boolean plain = epilogue.activation() == null;
        double apart =
                plain ? MmaPlan.of(dtype, shape, device, true, null).clocks() / CLOCKS : apart(dtype, shape, epilogue);
        return plan.microseconds >= apart && !forced
                ? "%.1f us by the model, %s %.1f"
                        .formatted(plan.microseconds, plain ? "other tiles" : "the library and a second pass", apart)
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
        double function = isShort(dtype, epilogue) ? SHORT_TILE : TILE_TIME;
        double tile = epilogue.activation() == null ? PLAIN_TILE : function;
        RowsPlan best = null;
        for (int groups = 1; groups <= Math.min(tiles, MOST_GROUPS); groups++) {
            int each = Math.ceilDiv(tiles, groups);
            long shared = BOUNDARY + (long) (steps + STAGES) * PART + (long) each * TILE * Float.BYTES;
            long blocks = rows * groups;
            if (shared + RESERVED > device.sharedBytesPerBlockOptIn() || blocks > Integer.MAX_VALUE) {
                continue;
            }
            double time = LAUNCH + Math.ceilDiv(blocks, device.multiprocessors()) * (ENTRY + each * tile);
            if (best == null || time < best.microseconds) {
                best = new RowsPlan(steps, groups, (int) blocks, (int) shared, time);
            }
        }
        return best;
    }

    private static double apart(DType dtype, MatMulShape shape, Epilogue epilogue) {
        double results = (double) shape.m() * shape.n();
        double elements = results + (double) (shape.m() + shape.n()) * shape.k();
        double product = Math.max(results * shape.k() / PRODUCTS, elements / (BYTES / dtype.bytes()));
        double pass = results / (isShort(dtype, epilogue) ? SHORT_RESULTS : RESULTS);
        return 2 * LAUNCH + product + pass;
    }

    /** Whether the kernel has the function in few instructions: {@code short_fn.cuh}. */
    static boolean isShort(DType dtype, Epilogue epilogue) {
        UnaryFn fn =
                epilogue.activation() == null ? null : epilogue.activation().fn();
        return fn == UnaryFn.GELU || (fn == UnaryFn.GELU_TANH && dtype == DType.F16);
    }

    /** {@code matmul_rows, sums of 384, 4 blocks a tile of rows}. */
    String text() {
        return "matmul_rows, sums of " + steps * STEP + (groups == 1 ? "" : ", " + groups + " blocks a tile of rows");
    }
}
