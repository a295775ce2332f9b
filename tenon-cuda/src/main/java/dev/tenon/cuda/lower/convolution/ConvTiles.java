package dev.tenon.cuda.lower.convolution;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * How a convolution on tensor cores is cut: the tile of results per block, and the parts of k whose sums the last
 * block of a tile adds up. Chosen by a model of time: blocks go in rounds of as many as are resident, a round takes the
 * steps of one block and a fixed time beside, a step takes the tile's multiplications at the tile's efficiency.
 *
 * @param splits parts of k
 * @param steps of 128 bytes of k, per part
 */
record ConvTiles(Form form, long splits, long steps) {
    /** Parts of k at most: each is written and read once more. */
    private static final long[] SPLITS = {1, 2, 3, 4, 6, 8, 12, 16};

    private static final int ROW_BYTES = 128; // of k, per step and row
    /** Steps' worth of time that a block needs to begin and to end. */
    private static final double FIXED = 4;
    /** The same, of a tile whose sums go through the workspace. */
    private static final double GATHERED = 3;

    /**
     * A kernel of {@code conv_mma.cu}.
     *
     * @param rows positions of a tile
     * @param columns output channels of a tile
     * @param stages steps in shared memory
     * @param resident blocks of a multiprocessor
     * @param efficiency of its multiplications, of the best tile's
     */
    record Form(int rows, int columns, int threads, int stages, int resident, double efficiency) {
        String entry() {
            return "conv_mma_" + rows + "x" + columns;
        }

        int sharedBytes() {
            return Math.max(
                    stages * (rows + columns) * ROW_BYTES,
                    Math.max((rows + 4) * columns, rows * (columns + 4)) * Float.BYTES);
        }
    }

    private static final List<Form> FORMS = List.of(
            new Form(128, 128, 256, 3, 2, 1),
            new Form(128, 64, 256, 3, 2, 0.8),
            new Form(64, 64, 128, 4, 3, 0.7),
            new Form(128, 32, 128, 3, 3, 0.6));

    /**
     * The fastest cut.
     *
     * @param rows positions of all images
     * @param outputs channels per group
     * @param groups of channels
     * @param chunks of 16 bytes along k
     * @param multiprocessors of the device
     * @param sharedBytes that a block may have at most
     */
    static ConvTiles of(long rows, long outputs, long groups, long chunks, int multiprocessors, int sharedBytes) {
        long steps = Math.max(1, Math.ceilDiv(chunks, ROW_BYTES / 16));
        return FORMS.stream()
                .filter(form -> form.sharedBytes() <= sharedBytes)
                .flatMap(form -> cuts(form, steps))
                .min(Comparator.comparingDouble(cut -> cut.time(rows, outputs, groups, multiprocessors)))
                .orElseThrow();
    }

    private static Stream<ConvTiles> cuts(Form form, long steps) {
        return java.util.Arrays.stream(SPLITS)
                .filter(splits -> splits <= steps)
                .mapToObj(splits -> new ConvTiles(form, splits, Math.ceilDiv(steps, splits)));
    }

    private double time(long rows, long outputs, long groups, int multiprocessors) {
        double blocks = (double) tiles(rows, outputs) * groups * splits;
        double rounds = Math.ceil(blocks / ((double) multiprocessors * form.resident));
        double each = steps + FIXED + (splits > 1 ? GATHERED + splits / 4.0 : 0);
        return rounds * each * form.resident * form.rows * form.columns / form.efficiency;
    }

    /** Blocks per group and part. */
    long tiles(long rows, long outputs) {
        return Math.ceilDiv(rows, form.rows) * Math.ceilDiv(outputs, form.columns);
    }
}
