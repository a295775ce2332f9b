package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.KernelVariant;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How {@code matmul_norm} makes a product and the norm of its rows: pure arithmetic.
 *
 * @param form of a block's tile
 * @param cluster blocks that hold rows together
 * @param tiles of 128 rows
 * @param clusters that share them, as far as that is known before the device is asked
 * @param steps of 64 elements that sums are padded to
 * @param microseconds that it takes by the model
 */
record NormPlan(RingTile form, int cluster, int tiles, int clusters, int steps, double microseconds) {
    private static final int RESERVED = 20 << 10; // what the kernel declares itself
    private static final int UNIT = 64; // columns that are stored between two steps
    /** Of a cluster, on every device. */
    static final int MOST_BLOCKS = 8;

    /**
     * Multiprocessors of a group, which a cluster does not leave: 16 or 18 on an H200, of which pairs are always whole.
     */
    private static final int GROUP = 16;

    private static final int PAIR = 2;

    /** Microseconds of a launch, of a cluster's meeting and of its first operands. */
    private static final double START = 4.0;

    /**
     * Tiles of so many columns; times are microseconds. Steps as measured of {@code matmul_wgmma} on an H200, that of
     * 192 columns between its neighbours. Between two tiles: what that takes, and estimates of residual and statistics.
     */
    static final List<RingTile> FORMS = List.of(
            new RingTile(256, 4, 0.66, 3.7, 3.5),
            new RingTile(192, 5, 0.50, 3.2, 3.0),
            new RingTile(128, 6, 0.358, 2.7, 2.5));

    /** Whether clusters of at most so many such tiles hold rows of so many columns. */
    private static boolean holds(RingTile form, long n, int most) {
        return n > 0 && n % form.columns() == 0 && n / form.columns() <= most;
    }

    /** Whether at most so many tiles of some width fit rows of so many columns. */
    static boolean holds(long n, int most) {
        return FORMS.stream().anyMatch(form -> holds(form, n, most));
    }

    /**
     * The fastest plan of a product whose rows at most so many tiles hold; null where a block has too little shared
     * memory.
     */
    static @Nullable NormPlan of(MatMulShape shape, DType dtype, boolean residual, DeviceProperties device, int most) {
        return FORMS.stream()
                .filter(form -> holds(form, shape.n(), most))
                .filter(form -> form.sharedBytes() + RESERVED <= device.sharedBytesPerBlockOptIn())
                .map(form -> of(form, shape, memory(shape, dtype, residual), device.multiprocessors()))
                .min(Comparator.comparingDouble(NormPlan::microseconds))
                .orElse(null);
    }

    private static NormPlan of(RingTile form, MatMulShape shape, double memory, int multiprocessors) {
        int cluster = (int) (shape.n() / form.columns());
        int tiles = (int) Math.ceilDiv(shape.m(), (long) RingTile.ROWS);
        int clusters = Math.min(tiles, resident(cluster, multiprocessors));
        int steps = Math.max((int) Math.ceilDiv(shape.k(), (long) RingTile.step(DType.F16)), form.columns() / UNIT + 1);
        double products = form.microseconds(Math.ceilDiv(tiles, clusters), steps);
        return new NormPlan(form, cluster, tiles, clusters, steps, START + Math.max(products, memory));
    }

    /** Clusters that run at the same time, a block a multiprocessor. */
    private static int resident(int cluster, int multiprocessors) {
        int fit = cluster <= PAIR || multiprocessors < GROUP
                ? multiprocessors / cluster
                : multiprocessors / GROUP * (GROUP / cluster);
        return Math.max(1, fit);
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

    /** Rows of a box of the left operand: blocks of a cluster fetch a part each, where these are whole. */
    int leftRows() {
        return RingTile.ROWS % cluster == 0 ? RingTile.ROWS / cluster : RingTile.ROWS;
    }

    /** The launch of so many clusters, which share the tiles. */
    LaunchShape shape(int count) {
        return LaunchShape.of(cluster * Math.clamp(count, 1, tiles), RingTile.THREADS)
                .withSharedBytes(form.sharedBytes())
                .withCluster(cluster)
                .withProgrammatic();
    }

    /** {@code matmul_norm, tiles of 128x192, 2 blocks a row}. */
    String text() {
        return "matmul_norm, tiles of " + RingTile.ROWS + "x" + form.columns()
                + (cluster == 1 ? "" : ", " + cluster + " blocks a row");
    }
}
