package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * How {@code matmul_wgmma} makes a product: pure arithmetic, its constants measured on an H200.
 *
 * @param form of tiles
 * @param steps of 128 bytes of k that sums are padded to
 * @param blocks of the launch, which share the tiles
 * @param microseconds that it takes by the model
 */
record RingPlan(RingTile form, int steps, int blocks, double microseconds) implements WarpgroupPlan {
    private static final int RESERVED = 20 << 10; // what the kernel declares itself
    private static final long LEAST_ROWS = 128;

    /** Microseconds of a launch, and of a block's first operands. */
    private static final double START = 1.0;

    /** Of a tile's function. */
    private static final double FUNCTION = 1.0;

    /** Why a product of whole chunks is not made so; empty where it is. */
    static String refusal(DType dtype, MatMulShape shape, DeviceProperties device, boolean forced) {
        if (shape.m() < LEAST_ROWS && !forced) {
            return shape.m() + " rows; it takes " + LEAST_ROWS + " and more";
        }
        if (Math.max(shape.m(), Math.max(shape.n(), shape.k())) > Integer.MAX_VALUE / 2) {
            return "places are counted in 32 bits";
        }
        return RingTile.STORED_BESIDE.stream().noneMatch(form -> form.takes(dtype) && fits(form, device))
                ? "a block has too little shared memory"
                : "";
    }

    private static boolean fits(RingTile form, DeviceProperties device) {
        return form.sharedBytes() + RESERVED <= device.sharedBytesPerBlockOptIn();
    }

    /** The fastest plan of a product that is not refused. */
    static RingPlan of(DType dtype, MatMulShape shape, Epilogue epilogue, DeviceProperties device) {
        double function = epilogue.activation() == null ? 0 : FUNCTION;
        return RingTile.STORED_BESIDE.stream()
                .filter(form -> form.takes(dtype) && fits(form, device))
                .map(form -> of(form, dtype, shape, function, device.multiprocessors()))
                .min(Comparator.comparingDouble(RingPlan::microseconds))
                .orElseThrow();
    }

    private static RingPlan of(RingTile form, DType dtype, MatMulShape shape, double function, int multiprocessors) {
        long tiles =
                SizeMath.product("matmul", Math.ceilDiv(shape.m(), (long) RingTile.ROWS), Math.ceilDiv(shape.n(), (long)
                        form.columns()));
        int steps = form.steps(dtype, shape.k());
        long each = Math.ceilDiv(tiles, multiprocessors);
        double time = START + form.microseconds(each, steps) - (FUNCTION - function) * each;
        return new RingPlan(form, steps, (int) Math.min(tiles, multiprocessors), time);
    }

    @Override
    public KernelFile file() {
        return ProductCatalog.MATMUL_WGMMA;
    }

    @Override
    public String kernel() {
        return "matmul_wgmma";
    }

    @Override
    public KernelVariant variant(DType dtype, @Nullable UnaryFn fn, boolean alongB) {
        return ProductCatalog.ring(dtype, fn, form.columns(), alongB);
    }

    @Override
    public int threads() {
        return RingTile.THREADS;
    }

    @Override
    public int rightRows() {
        return form.columns() % BOX == 0 ? BOX : BOX / 2;
    }

    @Override
    public int sharedBytes() {
        return form.sharedBytes();
    }

    @Override
    public int detail() {
        return steps;
    }

    /** {@code matmul_wgmma, tiles of 128x256}. */
    @Override
    public String text() {
        return kernel() + ", tiles of " + RingTile.ROWS + "x" + form.columns();
    }
}
