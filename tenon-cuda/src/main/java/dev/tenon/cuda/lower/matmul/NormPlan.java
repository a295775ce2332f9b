package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How {@code matmul_norm} makes a product and the norm of its rows: pure arithmetic, its constants measured on an H200.
 *
 * @param form of a block's tile
 * @param blocks that hold rows together: a team
 * @param teams that share the tiles of 128 rows
 * @param steps of 128 bytes of k that sums are padded to
 * @param microseconds that it takes by the model
 */
record NormPlan(RingTile form, int blocks, int teams, int steps, double microseconds) {
    private static final int RESERVED = 24 << 10; // what the kernel declares itself
    private static final int LINE = 128; // bytes of a row of the residual that are copied at a time
    private static final int UNIT = 32; // columns that are stored together

    /** Of a team, on every device. */
    static final int MOST_BLOCKS = 8;

    /** States of rows that a team hands over, of two tiles by turns, and what one takes. */
    private static final int TURNS = 2;

    private static final int STATE = 2 * Float.BYTES;
    private static final int COUNTERS = 4 * Integer.BYTES;

    /** Microseconds of a launch, and of its first operands. */
    private static final double START = 1.5;

    /** Tiles of so many columns; times are microseconds. */
    static final List<RingTile> FORMS = List.of(
            new RingTile(256, 4, 0.66, 6.5, 2.0),
            new RingTile(192, 5, 0.50, 4.0, 1.5),
            new RingTile(128, 6, 0.358, 3.6, 1.5));

    /** Whether teams of at most so many such tiles hold rows of so many columns. */
    private static boolean holds(RingTile form, DType dtype, long n, int most) {
        return form.takes(dtype) && n > 0 && n % form.columns() == 0 && n / form.columns() <= most;
    }

    /** Whether at most {@link #MOST_BLOCKS} tiles of some width fit rows of so many columns. */
    static boolean holds(DType dtype, long n) {
        return FORMS.stream().anyMatch(form -> holds(form, dtype, n, MOST_BLOCKS));
    }

    /** The fastest plan of a product whose rows the device's blocks hold; null where they do not. */
    static @Nullable NormPlan of(MatMulShape shape, DType dtype, boolean residual, DeviceProperties device) {
        int most = Math.min(MOST_BLOCKS, device.multiprocessors());
        return FORMS.stream()
                .filter(form -> holds(form, dtype, shape.n(), most))
                .filter(form -> form.sharedBytes() + RESERVED <= device.sharedBytesPerBlockOptIn())
                .map(form -> of(form, shape, dtype, memory(shape, dtype, residual), device.multiprocessors()))
                .min(Comparator.comparingDouble(NormPlan::microseconds))
                .orElse(null);
    }

    private static NormPlan of(RingTile form, MatMulShape shape, DType dtype, double memory, int multiprocessors) {
        int blocks = (int) (shape.n() / form.columns());
        int tiles = (int) Math.ceilDiv(shape.m(), (long) RingTile.ROWS);
        int teams = Math.min(tiles, multiprocessors / blocks);
        int steps = Math.max((int) Math.ceilDiv(shape.k(), (long) RingTile.step(dtype)), leastSteps(form, dtype));
        double products = form.microseconds(Math.ceilDiv(tiles, teams), steps);
        return new NormPlan(form, blocks, teams, steps, START + Math.max(products, memory));
    }

    /** Steps that hide the epilogue of the tile before: one, those that add the residual, those that store. */
    private static int leastSteps(RingTile form, DType dtype) {
        int parts = Math.ceilDiv(form.columns(), 2 * LINE / dtype.bytes());
        int units = dtype == DType.F32 ? 1 : 2;
        return 1 + parts + form.columns() / UNIT / units;
    }

    private static double memory(MatMulShape shape, DType dtype, boolean residual) {
        double elements =
                (double) shape.m() * (shape.k() + (residual ? 2 : 1) * shape.n()) + (double) shape.n() * shape.k();
        return elements / (WarpgroupProducts.BYTES / dtype.bytes());
    }

    KernelVariant variant(DType dtype, boolean centred) {
        return ProductCatalog.norm(dtype, centred, form.columns());
    }

    int sharedBytes() {
        return form.sharedBytes();
    }

    /** Of the states that blocks hand over. */
    long workspaceBytes() {
        return SizeMath.product("matmul_norm", (long) teams * TURNS, blocks, RingTile.ROWS, STATE);
    }

    long counterBytes() {
        return (long) teams * COUNTERS;
    }

    /** Not before the step before has ended: two launches of several streams could hold blocks of each other up. */
    LaunchShape shape() {
        return LaunchShape.of(teams * blocks, RingTile.THREADS)
                .withSharedBytes(form.sharedBytes())
                .withCooperative();
    }

    /** {@code matmul_norm, tiles of 128x192, 2 blocks a row}. */
    String text() {
        return "matmul_norm, tiles of " + RingTile.ROWS + "x" + form.columns()
                + (blocks == 1 ? "" : ", " + blocks + " blocks a row");
    }
}
