package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.lower.step.ConvForm;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;
import java.util.Objects;

/**
 * How {@code conv_wgmma} and {@code conv_wgmma_kept} cut a convolution: the tile of results, and the blocks of a
 * cluster that share a tile's sums, or those that keep their weights and go over tiles. Chosen by a model of time
 * ({@link BlockTimes}).
 *
 * @param parts of k, side by side in a cluster
 * @param steps of 128 bytes of k, per part
 * @param rows tiles of rows
 * @param across tiles of output channels
 */
record WarpgroupTiles(Form form, int parts, long steps, long rows, long across) {
    static final int ROWS = 128;
    static final int LINE = 128; // bytes of k, per step and row
    private static final int THREADS = 288;
    private static final int KEEPING_THREADS = 384;
    private static final int BOUNDARY = 1024;
    private static final int MOST_PARTS = 8;

    /** Of a block that keeps its weights, beside what the kernel says itself. */
    private static final int MOST_SHARED_BYTES = 225 << 10;

    private static final int LEAST_STAGES = 4;
    private static final int MOST_STAGES = 5;

    /**
     * Microseconds of a cluster's launch, which waits for the end of the one before it, and of its meetings; then of a
     * sum of another block.
     */
    private static final double MEETING = 6;

    private static final double SHARED = 2e-5;

    /** Microseconds until the first weights to keep are there, beside those that fetching them takes. */
    private static final double BEGINNING = 1;

    /**
     * A kernel.
     *
     * @param columns output channels of a tile
     * @param stages steps in shared memory
     * @param keeping whether blocks keep their weights; then stages are as many as they have room for
     * @param times of blocks, or of the tiles of one
     */
    record Form(int columns, int stages, boolean keeping, BlockTimes times) {
        String entry() {
            return keeping ? "conv_wgmma_kept_" + columns : "conv_wgmma_" + ROWS + "x" + columns;
        }
    }

    /**
     * Figures of an H200. Two blocks of 64 columns fetch 48 KiB per step at the 64 bytes per cycle that a
     * multiprocessor has of L2; the wider ones are as fast as they multiply.
     */
    static final List<Form> FORMS = List.of(
            new Form(64, 4, false, new BlockTimes(2, 1.6, 0.22, 0.43)),
            new Form(128, 3, false, new BlockTimes(2, 3.0, 0.36, 0.62)),
            new Form(256, 4, false, new BlockTimes(1, 4.0, 0.62, 0.62)),
            new Form(64, MOST_STAGES, true, new BlockTimes(1, 0.4, 0.2, 0.2)),
            new Form(128, MOST_STAGES, true, new BlockTimes(1, 0.7, 0.34, 0.34)));

    /**
     * What the fastest cut depends on.
     *
     * @param rows positions of all images
     * @param steps of 128 bytes of k
     */
    record Sizes(long rows, long outputs, long steps) {}

    /**
     * The fastest cut.
     *
     * @param asked whether blocks shall keep their weights
     */
    static WarpgroupTiles of(Sizes sizes, ConvForm asked, DeviceProperties device) {
        WarpgroupTiles best = null;
        double shortest = Double.POSITIVE_INFINITY;
        boolean keep = asked == ConvForm.WARPGROUPS_KEEPING
                && FORMS.stream().anyMatch(form -> form.keeping && keeps(form, sizes, device));
        long rows = Math.ceilDiv(sizes.rows, (long) ROWS);
        for (Form form : FORMS) { // in loops rather than streams, which a young JVM runs slowly
            if (form.keeping ? asked == ConvForm.WARPGROUPS_FETCHING || !keeps(form, sizes, device) : keep) {
                continue;
            }
            long across = across(form, sizes);
            long resident = (long) form.times.resident() * device.multiprocessors();
            for (int parts = 1; parts <= (form.keeping ? 1 : MOST_PARTS); parts *= 2) {
                if (parts > 1 && (parts > sizes.steps || rows * across * parts > resident)) {
                    break;
                }
                WarpgroupTiles cut =
                        new WarpgroupTiles(form, parts, Math.ceilDiv(sizes.steps, (long) parts), rows, across);
                double micros = cut.microseconds(device);
                if (best == null || micros < shortest) {
                    best = cut;
                    shortest = micros;
                }
            }
        }
        return Objects.requireNonNull(best, "there are forms");
    }

    private static boolean keeps(Form form, Sizes sizes, DeviceProperties device) {
        return stages(form, sizes.steps) >= LEAST_STAGES && across(form, sizes) <= device.multiprocessors();
    }

    private static long across(Form form, Sizes sizes) {
        return Math.ceilDiv(sizes.outputs, (long) form.columns);
    }

    /** Of steps in shared memory, beside all weights where they are kept. */
    private static int stages(Form form, long steps) {
        long room = MOST_SHARED_BYTES - BOUNDARY - SizeMath.estimate(LINE, form.columns, steps);
        return form.keeping ? (int) Math.clamp(room / (LINE * ROWS), 0, form.stages) : form.stages;
    }

    /** Steps in shared memory. */
    int stages() {
        return stages(form, steps);
    }

    int sharedBytes() {
        int columns = form.columns;
        int kept = form.keeping ? SizeMath.toInt("conv", LINE, columns, steps) : LINE * columns * stages();
        return BOUNDARY + LINE * ROWS * stages() + kept;
    }

    LaunchShape launch(DeviceProperties device) {
        LaunchShape shape = form.keeping
                ? LaunchShape.of((int) Math.min(rows, alongside(device)), (int) across, 1, KEEPING_THREADS)
                : LaunchShape.of(SizeMath.toInt("conv", rows, across, parts), THREADS);
        shape = shape.withSharedBytes(sharedBytes());
        return parts > 1 ? shape.withCluster(parts) : shape.withProgrammatic();
    }

    /** Blocks that have the same weights. */
    private long alongside(DeviceProperties device) {
        return device.multiprocessors() / across;
    }

    /** By the model. */
    double microseconds(DeviceProperties device) {
        if (form.keeping) {
            double fetched = steps * form.times.alone() * form.columns / ROWS;
            return BEGINNING + fetched + form.times.microseconds(rows, steps, (int) alongside(device));
        }
        double gathered = parts > 1 ? MEETING + SHARED * ROWS * form.columns : 0;
        double blocks = (double) rows * across * parts;
        return form.times.microseconds(blocks, steps, device.multiprocessors()) + gathered;
    }

    /** {@code conv_wgmma_128x64 in 4 parts}. */
    String text() {
        return form.entry() + (parts > 1 ? " in " + parts + " parts" : "");
    }
}
