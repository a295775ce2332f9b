package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * How {@code conv_few_channels} cuts a convolution: the tile of positions and the part of the output channels per
 * block. Chosen by a model of time ({@link BlockTimes}).
 *
 * @param threads per block
 * @param shares lanes of a position
 * @param rows positions of a tile
 * @param columns positions of a tile, the binary logarithm
 * @param tiles of all images
 * @param parts of the output channels
 * @param sharedBytes per block
 */
record FewChannelsTiles(
        Form form, int threads, int shares, long rows, int columns, long tiles, long parts, long sharedBytes)
        implements FewChannelsPlan {
    /** Output channels of a thread. */
    static final int OUTPUTS = 8;

    private static final int MOST_LANES = 4;
    private static final int THREADS = 128;
    private static final int WARP = 32;
    /** What fetching cells costs a part of the output channels, in thread's shares of it. */
    private static final double FETCHED = 0.5;

    /**
     * A kernel of {@code conv_few_channels.cu}.
     *
     * @param positions of a thread
     * @param times of blocks of {@value #THREADS} threads, by the multiplications of a sum
     */
    record Form(int positions, BlockTimes times) {
        String entry() {
            return "conv_few_channels_" + positions;
        }

        BlockTimes times(int threads) {
            return new BlockTimes(times.resident() * THREADS / threads, times.fixed(), times.alone(), times.together());
        }
    }

    /** From an H200, where 27 cells of 102400 positions and 32 outputs take 25 to 28 us by the first. */
    static final List<Form> FORMS =
            List.of(new Form(8, new BlockTimes(4, 3.2, 0.22, 0.75)), new Form(4, new BlockTimes(5, 2.8, 0.13, 0.55)));

    /**
     * The fastest cut; empty where shared memory has no room for any.
     *
     * @param geometry of two spatial axes, whose outputs are a multiple of {@link #OUTPUTS}
     */
    static Optional<FewChannelsTiles> of(ConvGeometry geometry, int multiprocessors) {
        return FORMS.stream()
                .flatMap(form -> IntStream.of(THREADS, THREADS / 2, WARP)
                        .boxed()
                        .flatMap(threads -> cut(form, threads, geometry).stream()))
                .min(Comparator.comparingDouble(tiles -> tiles.microseconds(geometry, multiprocessors)));
    }

    /** Of tiles of as many positions, those that leave the fewest idle, of these the one with the fewest loads. */
    private static Optional<FewChannelsTiles> cut(Form form, int threads, ConvGeometry geometry) {
        int lanes = lanes(geometry.outputs());
        int step = threads / lanes;
        int positions = step * form.positions;
        IntStream narrow = IntStream.rangeClosed(0, Integer.numberOfTrailingZeros(step));
        return IntStream.concat(narrow, IntStream.of(Integer.numberOfTrailingZeros(positions)))
                .mapToObj(columns -> of(form, threads, lanes, columns, geometry))
                .filter(tiles -> tiles.sharedBytes <= MOST_SHARED)
                .min(Comparator.comparingLong(FewChannelsTiles::tiles)
                        .thenComparingLong(tiles -> tiles.requests(geometry)));
    }

    private static FewChannelsTiles of(Form form, int threads, int lanes, int columns, ConvGeometry geometry) {
        long rows = (long) threads / lanes * form.positions >> columns;
        ConvGeometry.Axis high = geometry.axes().getFirst();
        ConvGeometry.Axis wide = geometry.axes().getLast();
        long tiles = SizeMath.estimate(
                geometry.batch(), Math.ceilDiv(high.output(), rows), Math.ceilDiv(wide.output(), 1L << columns));
        long line = SizeMath.estimate(Math.ceilDiv(reach(wide, 1L << columns), wide.stride()), wide.stride());
        long weights = SizeMath.estimate(geometry.cells(), geometry.channels(), (long) lanes * OUTPUTS);
        long cells = SizeMath.estimate(reach(high, rows), line, geometry.channels());
        long shared = SizeMath.estimate(weights + Math.min(cells, MOST_SHARED), Float.BYTES);
        long parts = Math.ceilDiv(geometry.outputs(), (long) lanes * OUTPUTS);
        return new FewChannelsTiles(form, threads, lanes, rows, columns, tiles, parts, shared);
    }

    /** As many as fill their last part best. */
    private static int lanes(long outputs) {
        long shares = outputs / OUTPUTS;
        return IntStream.of(MOST_LANES, 2, 1)
                .boxed()
                .min(Comparator.comparingDouble(lanes -> Math.ceilDiv(shares, lanes) * (lanes + FETCHED)))
                .orElseThrow();
    }

    /** Elements of x along an axis that so many positions read. */
    static long reach(ConvGeometry.Axis axis, long positions) {
        long windows = SizeMath.estimate(positions - 1, axis.stride());
        return windows + SizeMath.estimate(axis.kernel() - 1, axis.dilation()) + 1;
    }

    /** Loads of a warp that fetch a tile's cells. */
    private long requests(ConvGeometry geometry) {
        long line = SizeMath.estimate(reach(geometry.axes().getLast(), 1L << columns), geometry.channels());
        return SizeMath.estimate(reach(geometry.axes().getFirst(), rows), Math.ceilDiv(line, (long) WARP));
    }

    @Override
    public double microseconds(ConvGeometry geometry, int multiprocessors) {
        long depth = SizeMath.product("conv", geometry.cells(), geometry.channels());
        return form.times(threads).microseconds((double) tiles * parts, depth, multiprocessors);
    }

    @Override
    public KernelFile file() {
        return WindowCatalog.CONV_FEW_CHANNELS;
    }

    @Override
    public String entry() {
        return form.entry();
    }

    @Override
    public long blocks() {
        return tiles;
    }
}
