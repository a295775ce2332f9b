package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.EncoderCatalog;
import dev.tenon.cuda.kernel.EncoderCatalog.LayersForm;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.lower.resident.EncoderLayers.Layer;
import dev.tenon.cuda.lower.resident.EncoderLayers.Product;
import dev.tenon.cuda.lower.resident.EncoderLayers.Shape;
import dev.tenon.cuda.lower.step.WeightOrder.Fragments;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How the layers of an encoder are spread over a device: pure arithmetic.
 *
 * @param dtype of operands
 * @param columnTiles of a warp at a time
 * @param packs of four elements, of a lane's part of a row, at most
 * @param cuts of the products of a layer: q, k and v, out, up, down
 * @param vectorElements that a block fetches of a layer beside weights
 * @param microseconds that it takes by the model
 */
record LayersPlan(
        DType dtype,
        Shape shape,
        int layers,
        int columnTiles,
        int packs,
        List<Cut> cuts,
        Layout layout,
        int vectorElements,
        int sharedBytes,
        double microseconds)
        implements EncoderPlan {
    /** Of a tile. */
    static final int BLOCKS = 16;

    private static final int WARPS = 8;
    private static final int THREADS = 32 * WARPS;
    private static final int COLUMNS = 8;

    /** Of warps, by columns, in products of rows in shared memory, where two warps each share k. */
    private static final int GROUPS = 4;

    private static final int CHUNK_BYTES = 64;
    private static final int LINE = 128;
    private static final int LAYER_BYTES = 128;
    private static final int SEGMENT_BYTES = 16;
    private static final int NORM_COLUMNS = 128;
    private static final int MOST_HIDDEN = 768;
    private static final int MOST_TILES = 3;

    /** Tokens of a sequence, 16 keys a warp. */
    private static final int MOST_KEYS = WARPS * TILE;

    /** Chunks of k of a batch. */
    private static final int LONG = 4;

    /** Registers of a thread. */
    private static final int REGISTERS = 256;

    /**
     * In microseconds, fitted to kernels alone on an H200 and 6 percent more than these, as the model of the other form
     * is: of a launch, of what a layer waits for, of a column of its rows, of handing on keys and values.
     */
    private static final double LAUNCH = 5;

    private static final double LAYER = 6.4;
    private static final double F32_LAYER = 7.9; // as runs within plans were
    private static final double COLUMN = 0.0112;
    private static final double HANDING = 1.5;

    /** Bytes of weights of a block in a microsecond, and those of each further tile, which share L2. */
    private static final double L2_RATE = 43e3;

    private static final double SHARED_RATE = 1.1e6;

    /** How a product is cut: chunks of a batch, batches of a round of columns, rounds; warps that share k. */
    record Cut(int chunks, int batches, int rounds, int splits) {}

    /** Where things lie in shared memory, in bytes, in the order of layers.cuh. */
    record Layout(int own, int masks, int cells, int sums, int kept, int vectors, int layers, int segments) {}

    LayersPlan {
        cuts = List.copyOf(cuts);
    }

    int tiles() {
        return tiles(shape);
    }

    private static int tiles(Shape shape) {
        return (int) Math.ceilDiv(shape.rows(), (long) TILE);
    }

    @Override
    public LaunchShape launch() {
        return LaunchShape.of(tiles() * BLOCKS, THREADS)
                .withSharedBytes(sharedBytes)
                .withCooperative();
    }

    @Override
    public long wordBytes() {
        long columns = (hands() ? 5 : 3) * shape.hidden() + shape.inner();
        return SizeMath.product("layers", layers, shape.rows(), columns, dtype.bytes());
    }

    /** Whether tiles need keys of one another. */
    private boolean hands() {
        return shape.keys() > TILE;
    }

    /** Why an encoder is not made this way; empty where it is. */
    static String refusal(EncoderLayers encoder, DType dtype, DeviceProperties device) {
        Shape shape = encoder.shape();
        if (shape.hidden() % NORM_COLUMNS != 0 || shape.hidden() > MOST_HIDDEN) {
            return shape.hidden() + " columns; it takes multiples of " + NORM_COLUMNS + " up to " + MOST_HIDDEN;
        }
        if (shape.inner() % (BLOCKS * COLUMNS * GROUPS) != 0) {
            return shape.inner() + " columns of the feed-forward; it takes multiples of " + BLOCKS * COLUMNS * GROUPS;
        }
        if (shape.keys() > MOST_KEYS) {
            return shape.keys() + " tokens; it takes at most " + MOST_KEYS;
        }
        if (shape.rows() != shape.keys() && shape.keys() % TILE != 0) {
            return "several sequences of " + shape.keys() + " tokens; it takes multiples of " + TILE;
        }
        String refused = EncoderPlan.refusal(encoder, dtype, device);
        return refused.isEmpty() ? EncoderPlan.room(of(encoder, dtype).launch(), REGISTERS, device) : refused;
    }

    /** The plan of an encoder that is not refused. */
    static LayersPlan of(EncoderLayers encoder, DType dtype) {
        Shape shape = encoder.shape();
        int layers = encoder.layers().size();
        int tiles = columnTiles(shape);
        List<Cut> cuts = cuts(shape, dtype, tiles);
        int packs = shape.hidden() <= MOST_HIDDEN / 2 ? 3 : 6;
        int vectors = vectorElements(shape, dtype);
        Places places = new Places();
        Layout layout = layout(shape, dtype, cuts, layers, vectors, places);
        return new LayersPlan(
                dtype,
                shape,
                layers,
                tiles,
                packs,
                cuts,
                layout,
                vectors,
                SizeMath.toInt("layers", places.end),
                time(shape, dtype, layers));
    }

    private static int vectorElements(Shape shape, DType dtype) {
        long heads = Math.ceilDiv(shape.heads(), (long) BLOCKS);
        long elements =
                4 * shape.hidden() + 2 * shape.hidden() / BLOCKS + shape.inner() / BLOCKS + 3L * shape.head() * heads;
        int line = LINE / dtype.bytes();
        return SizeMath.toInt("layers", Math.ceilDiv(elements, line) * line);
    }

    private static Layout layout(Shape shape, DType dtype, List<Cut> cuts, int layers, int vectors, Places places) {
        int bytes = dtype.bytes();
        long share = shape.hidden() / BLOCKS;
        long heads = Math.ceilDiv(shape.heads(), (long) BLOCKS);
        long active = Math.ceilDiv(shape.keys(), (long) TILE);
        long cells = (long) TILE * (WARPS / GROUPS) * Math.max(3L * shape.head(), shape.inner() / BLOCKS);
        if (shape.keys() > TILE) {
            cells = Math.max(cells, 2L * WARPS * TILE + active * TILE * shape.head());
        }
        long splits = Math.max(cuts.get(1).splits, cuts.get(3).splits);
        places.take(TILE * rowBytes(shape.hidden(), bytes));
        return new Layout(
                places.take(3 * TILE * rowBytes(shape.head(), bytes)),
                places.take(active * TILE * TILE * Float.BYTES),
                places.take(cells * Float.BYTES),
                places.take(splits * TILE * share * Float.BYTES),
                places.take(TILE * share * Float.BYTES),
                places.take(2L * vectors * bytes),
                places.take((long) LAYER_BYTES * layers),
                places.take((long) SEGMENT_BYTES * layers * (heads + 3)));
    }

    /** Places one behind the other, each on a boundary of lines. */
    private static final class Places {
        private long end;

        /** The place of so many bytes. */
        int take(long bytes) {
            int at = SizeMath.toInt("layers", end);
            end = Math.ceilDiv(end + bytes, LINE) * LINE;
            return at;
        }
    }

    /** As wide_row of resident.cuh. */
    private static long rowBytes(long k, int bytes) {
        long row = k * bytes;
        return row % LINE == 0 ? row + CHUNK_BYTES : row;
    }

    /** The most that warps may take at a time in all products. */
    private static int columnTiles(Shape shape) {
        long qkv = 3L * shape.head() / COLUMNS / GROUPS;
        long up = shape.inner() / BLOCKS / COLUMNS / GROUPS;
        long share = shape.hidden() / BLOCKS / COLUMNS;
        return IntStream.iterate(MOST_TILES, tiles -> tiles - 1)
                .filter(tiles -> qkv % tiles == 0 && up % tiles == 0 && share % tiles == 0)
                .findFirst()
                .orElse(1);
    }

    private static List<Cut> cuts(Shape shape, DType dtype, int tiles) {
        int chunk = CHUNK_BYTES / dtype.bytes();
        long hidden = shape.hidden() / chunk;
        long share = shape.hidden() / BLOCKS / COLUMNS / tiles;
        int within = WARPS / GROUPS;
        return List.of(
                cut(hidden, within, 3L * shape.head() / COLUMNS / GROUPS / tiles),
                cut(hidden, WARPS, share),
                cut(hidden, within, shape.inner() / BLOCKS / COLUMNS / GROUPS / tiles),
                cut(shape.inner() / chunk, WARPS, share));
    }

    private static Cut cut(long chunks, int warps, long rounds) {
        int splits = largest(chunks, warps);
        int each = largest(chunks / splits, LONG);
        return new Cut(each, (int) (chunks / splits / each), (int) rounds, splits);
    }

    /** The largest divisor up to a bound. */
    private static int largest(long whole, int most) {
        return IntStream.iterate(most, count -> count - 1)
                .filter(count -> whole % count == 0)
                .findFirst()
                .orElse(1);
    }

    private static double time(Shape shape, DType dtype, int layers) {
        double weights = (double) EncoderPlan.weightBytes(shape, dtype) / BLOCKS;
        double reads = weights / L2_RATE + weights / SHARED_RATE * (tiles(shape) - 1);
        double layer = (dtype == DType.F32 ? F32_LAYER : LAYER)
                + COLUMN * shape.hidden()
                + reads
                + (shape.keys() > TILE ? HANDING : 0);
        return LAUNCH + layers * layer;
    }

    @Override
    public List<Integer> sizes() {
        List<Integer> sizes = new ArrayList<>();
        for (Cut cut : cuts) {
            sizes.addAll(List.of(cut.chunks, cut.batches, cut.rounds, cut.splits));
        }
        sizes.addAll(List.of(layout.own, layout.masks, layout.cells, layout.sums, layout.kept));
        sizes.addAll(List.of(layout.vectors, vectorElements, layout.layers, layout.segments));
        return sizes;
    }

    @Override
    public Kernel kernel(Kernels kernels) {
        LayersForm form = new LayersForm(dtype, shape.head(), columnTiles, packs);
        return kernels.kernel(EncoderCatalog.LAYERS, "layers", form.variant(), sharedBytes);
    }

    @Override
    public List<Fragments> orders(Layer layer) {
        int hidden = (int) shape.hidden();
        int head = shape.head();
        int heads = (int) shape.heads();
        int share = hidden / BLOCKS;
        int up = (int) shape.inner() / BLOCKS;
        return List.of(
                order(layer.qkv(), 0, heads, 3 * head, head, hidden),
                order(layer.out(), 1, BLOCKS, share, share, 0),
                order(layer.up(), 2, BLOCKS, up, up, 0),
                order(layer.down(), 3, BLOCKS, share, share, 0));
    }

    private Fragments order(Product product, int which, int items, int n, int run, int jump) {
        Cut cut = cuts.get(which);
        int groups = which % 2 == 0 ? GROUPS : 1;
        int k = (int) (which == 3 ? shape.inner() : shape.hidden());
        boolean along = !product.weight().transposed();
        return new Fragments(items, groups, cut.splits, columnTiles, n, k, run, jump, along);
    }
}
