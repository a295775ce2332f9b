package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.lower.step.ConvForm;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.Architecture;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * How {@code conv_few_channels_mma} cuts a convolution: the tile of positions, and how many warps share it by their
 * output channels. Chosen by a model of time whose constants are predictions: they come from counting instructions.
 *
 * @param shares of the output channels of a block, a warp's each
 * @param rows positions of a tile
 * @param columns positions of a tile, the binary logarithm
 * @param tiles of all images
 * @param blocks per part, each of which takes as many tiles
 * @param parts of the output channels
 * @param sharedBytes per block
 */
record FewChannelsMmaTiles(
        Form form, int shares, long rows, int columns, long tiles, long blocks, long parts, long sharedBytes)
        implements FewChannelsPlan {
    private static final int CAPABILITY = 80;
    private static final int THREADS = 128;
    private static final int WARPS = 4;
    /** Output channels of one side of a warp. */
    private static final int SIDE = 32;

    private static final int WARP = 32;
    private static final int OUTPUTS = 8;

    /** Columns of a tile, binary logarithms: products are of 16 neighbouring positions. */
    private static final int LEAST_COLUMNS = 4;

    private static final int MOST_COLUMNS = 7;
    /** Words of 4 bytes per step of k. */
    private static final int STEP = 8;
    /** Words of 16 bytes. */
    private static final int CHUNK_WORDS = 4;
    /** Shared memory of a step: the table's entries, and the weights per side. */
    private static final int TABLE_BYTES = 64;

    private static final int WEIGHT_BYTES = 1024;
    /** Elements of a line, and tiles, are divided as floats. */
    private static final long LARGE = 1L << 22;

    /** Weights, and results of a tile's rows, are counted in 32 bits. */
    private static final long MOST_ELEMENTS = 1L << 30;

    private static final long MOST_ROWS = 32;

    /** Shared memory of a multiprocessor, as blocks use it. */
    private static final long MULTIPROCESSOR_SHARED = 200 << 10;
    /** Microseconds of a launch with its first loads and last stores, and of the loads of each further tile. */
    private static final double START = 3;

    private static final double LATENCY = 1;
    /** Instructions of warps that a multiprocessor makes in a microsecond, and the warps that it takes for that. */
    private static final double RATE = 3500;

    private static final double WARPS_FOR_RATE = 12;
    /** Instructions of a warp: at its beginning, per tile, per word of weights, per chunk and word of cells. */
    private static final double BEGINNING = 300;

    private static final double TILE = 250;
    private static final double WEIGHT = 23;
    private static final double COPIED = 13;
    private static final double WORD = 12;
    /** Per step, and there per 16 positions for their cells and per side of them; per position and side of a thread. */
    private static final double MULTIPLIED = 16;

    private static final double LOADED = 12;
    private static final double PRODUCTS = 4;
    private static final double STORED = 28;
    /** More of them in f32, whose words are rounded before they are multiplied. */
    private static final double ROUNDED = 4;

    /**
     * A kernel of {@code conv_few_channels_mma.cu}.
     *
     * @param positions of a warp
     * @param sides of 32 output channels of a warp
     * @param resident blocks of a multiprocessor
     * @param asked what asks for it
     * @param each elements of a word of 4 bytes: 2, or 1 of f32
     */
    record Form(int positions, int sides, int resident, ConvForm asked, int each) {
        Form of(int elements) {
            return new Form(positions, sides, resident, asked, elements);
        }

        int outputs() {
            return sides * SIDE;
        }
    }

    static final List<Form> FORMS = List.of(
            new Form(64, 1, 4, ConvForm.FEW_CHANNELS_64X32, 2),
            new Form(32, 1, 5, ConvForm.FEW_CHANNELS_32X32, 2),
            new Form(32, 2, 4, ConvForm.FEW_CHANNELS_32X64, 2));

    /** Why the kernel does not take a convolution that {@link FewChannelsConv} takes; empty where it does. */
    static String refusal(ConvGeometry geometry, DType dtype, Architecture architecture) {
        if (dtype != DType.F16 && dtype != DType.BF16 && dtype != DType.F32) {
            return "it takes f32 as TF32, f16 and bf16, not " + dtype;
        }
        if (architecture.number() < CAPABILITY) {
            return "compute capability " + architecture + " is below 8.0";
        }
        ConvGeometry.Axis wide = geometry.axes().getLast();
        if (wide.dilation() != 1 && wide.kernel() > 1) {
            return "cells of its windows lie side by side along rows";
        }
        long reach = Math.max(wide.input(), SizeMath.estimate(wide.output(), wide.stride()) + wide.before());
        long weights = SizeMath.estimate(geometry.outputs() + 2 * SIDE * WARPS, geometry.cells(), geometry.channels());
        long result = SizeMath.estimate(wide.output(), geometry.last() ? geometry.outputs() : 1, MOST_ROWS);
        if (SizeMath.estimate(reach, geometry.channels()) >= LARGE || Math.max(weights, result) >= MOST_ELEMENTS) {
            return "lines of " + wide.input() + " cells, or the weights, are too long";
        }
        return of(geometry, dtype, 1, ConvForm.BY_CHOICE)
                .map(tiles -> tiles.tiles >= LARGE ? tiles.tiles + " tiles are too many" : "")
                .orElse("weights and cells of a tile are more than 48 KiB of shared memory");
    }

    /** The fastest cut, of the form that is asked for if one is; empty where shared memory has no room for any. */
    static Optional<FewChannelsMmaTiles> of(ConvGeometry geometry, DType dtype, int multiprocessors, ConvForm asked) {
        return FORMS.stream()
                .filter(form -> !asked.isFewChannels() || form.asked == asked)
                .map(form -> form.of(Float.BYTES / dtype.bytes()))
                .flatMap(form -> IntStream.of(1, 2, WARPS)
                        .boxed()
                        .flatMap(shares -> IntStream.rangeClosed(LEAST_COLUMNS, MOST_COLUMNS)
                                .filter(columns -> 1 << columns <= WARPS / shares * form.positions)
                                .mapToObj(columns -> of(form, shares, columns, geometry, multiprocessors))))
                .filter(tiles -> tiles.sharedBytes <= MOST_SHARED)
                .min(Comparator.comparingDouble(tiles -> tiles.microseconds(geometry, multiprocessors)));
    }

    private static FewChannelsMmaTiles of(
            Form form, int shares, int columns, ConvGeometry geometry, int multiprocessors) {
        long rows = (long) WARPS / shares * form.positions >> columns;
        ConvGeometry.Axis high = geometry.axes().getFirst();
        ConvGeometry.Axis wide = geometry.axes().getLast();
        long tiles = SizeMath.estimate(
                geometry.batch(), Math.ceilDiv(high.output(), rows), Math.ceilDiv(wide.output(), 1L << columns));
        long parts = Math.ceilDiv(geometry.outputs(), (long) shares * form.outputs());
        long lines = FewChannelsTiles.reach(high, rows);
        long line = SizeMath.estimate(FewChannelsTiles.reach(wide, 1L << columns), geometry.channels());
        int each = form.each;
        int lead = lead(geometry, each);
        int chunk = CHUNK_WORDS * each;
        long copy = lead >= 0
                ? SizeMath.estimate(lines, Math.ceilDiv(lead + line, (long) chunk), chunk)
                : SizeMath.estimate(lines, line + line % each) + 2;
        long cells = SizeMath.estimate(copies(geometry, each), Math.min(copy, MOST_SHARED), Float.BYTES / each);
        long shared = SizeMath.estimate(steps(geometry, each), TABLE_BYTES + (long) shares * form.sides * WEIGHT_BYTES)
                + cells;
        long fit = Math.clamp(MULTIPROCESSOR_SHARED / Math.max(shared, 1), 1, form.resident);
        long rounds = Math.ceilDiv(SizeMath.estimate(tiles, parts), fit * multiprocessors);
        return new FewChannelsMmaTiles(
                form, shares, rows, columns, tiles, Math.ceilDiv(tiles, Math.max(rounds, 1)), parts, shared);
    }

    /**
     * Elements before the first cell of a line where lines are copied by chunks of 16 bytes, which are whole in x, and
     * windows are whole words apart; -1 else.
     */
    private static int lead(ConvGeometry geometry, int each) {
        ConvGeometry.Axis wide = geometry.axes().getLast();
        int chunk = CHUNK_WORDS * each;
        boolean chunks = geometry.last()
                && wide.input() * geometry.channels() % chunk == 0
                && wide.stride() * geometry.channels() % each == 0;
        return chunks ? Math.floorMod(-wide.before() * geometry.channels(), chunk) : -1;
    }

    /** Copies of the cells: two where windows may begin within a word. */
    private static long copies(ConvGeometry geometry, int each) {
        return geometry.axes().getLast().stride() * geometry.channels() % each == 0 ? 1 : 2;
    }

    private static long steps(ConvGeometry geometry, int each) {
        long across = SizeMath.estimate(geometry.axes().getLast().kernel(), geometry.channels());
        long odd = Math.max(lead(geometry, each), 0) % each;
        long words = SizeMath.estimate(
                Math.ceilDiv(across + odd, (long) each),
                geometry.axes().getFirst().kernel());
        return Math.ceilDiv(words, (long) STEP);
    }

    @Override
    public double microseconds(ConvGeometry geometry, int multiprocessors) {
        double all = Math.ceil((double) blocks * parts / multiprocessors);
        double turns = Math.ceil((double) tiles / blocks);
        long steps = steps(geometry, form.each);
        double sixteens = form.positions / 16.0;
        double rounded = form.each == 1 ? ROUNDED : 0;
        double tile = TILE
                + fetched(geometry)
                + steps * (MULTIPLIED + sixteens * (LOADED + rounded + PRODUCTS * form.sides))
                + (STORED + rounded) * form.positions * form.outputs() / OUTPUTS / WARP;
        double words = (double) shares * form.outputs() * STEP * steps / THREADS;
        double warp = BEGINNING + WEIGHT * words + turns * tile;
        double rate = RATE * Math.min(1, all * WARPS / WARPS_FOR_RATE);
        return START + (turns - 1) * LATENCY + all * WARPS * warp / rate;
    }

    /** Instructions of a warp that bring a tile's cells. */
    private double fetched(ConvGeometry geometry) {
        long lines = FewChannelsTiles.reach(geometry.axes().getFirst(), rows);
        long wide = FewChannelsTiles.reach(geometry.axes().getLast(), 1L << columns);
        int each = form.each;
        if (lead(geometry, each) >= 0) {
            return COPIED * turns(Math.ceilDiv(wide * geometry.channels(), (long) CHUNK_WORDS * each) + 1, lines);
        }
        long inner = geometry.last() ? geometry.channels() : 1;
        long words = (wide * inner / each + 1) * (geometry.channels() / inner);
        return WORD * copies(geometry, each) * turns(words, lines);
    }

    /** Of a thread, where threads take pieces of several lines each. */
    private static double turns(long pieces, long lines) {
        return pieces < THREADS
                ? Math.ceilDiv(lines, THREADS / pieces)
                : (double) Math.ceilDiv(pieces, (long) THREADS) * lines;
    }

    @Override
    public KernelFile file() {
        return WindowCatalog.CONV_FEW_CHANNELS_MMA;
    }

    @Override
    public String entry() {
        return "conv_few_channels_mma_" + form.positions + "x" + form.outputs();
    }

    @Override
    public int threads() {
        return THREADS;
    }

    @Override
    public PreparedLaunch.Builder rest(PreparedLaunch.Builder launch, ConvGeometry geometry) {
        return launch.add((int) tiles).add(lead(geometry, form.each));
    }
}
