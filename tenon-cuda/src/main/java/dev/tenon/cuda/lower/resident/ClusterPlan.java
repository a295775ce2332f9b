package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.lower.resident.ClusterEncoder.Layer;
import dev.tenon.cuda.lower.resident.ClusterEncoder.Product;
import dev.tenon.cuda.lower.resident.ClusterEncoder.Shape;
import dev.tenon.cuda.lower.step.WeightOrder.Fragments;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How an encoder is made by clusters of blocks: pure arithmetic.
 *
 * @param dtype of operands
 * @param shape of the encoder
 * @param columnTiles of a warp at a time, in products whose results stay in a block; in the others twice as many
 * @param cuts of the products of a layer: q, k and v, out, up, down
 * @param forms by the blocks of a cluster, the best first
 * @param microseconds that it takes by the model
 */
record ClusterPlan(
        DType dtype,
        Shape shape,
        int layers,
        int columnTiles,
        List<Cut> cuts,
        List<Form> forms,
        double microseconds) {
    /** Layers of a launch. */
    static final int MOST_LAYERS = 26;

    /** What the columns between both products of the feed-forward are cut into. */
    static final int PARTS = 16;

    static final int TILE = 16;

    private static final int WARPS = 8;
    private static final int COLUMNS = 8;

    /** Of warps, by columns, in products whose results stay in a block; the warps of a group share k. */
    private static final int GROUPS = 4;

    /** Chunks of k of a batch, at most, there and in the other products. */
    private static final int LONG = 6;

    private static final int SHORT = LONG / 2;
    private static final int CHUNK_BYTES = 64;
    private static final int LINE = 128;
    private static final int LAYER_BYTES = 128;

    /** Tokens of a sequence, a warp of keys each 16. */
    private static final int MOST_KEYS = WARPS * TILE;
    private static final int VECTORS = 6;
    private static final int NORM_COLUMNS = 128;
    private static final int MOST_HIDDEN = 1024;
    private static final int MOST_TILES = 3;
    private static final int SEGMENT_BYTES = 16;

    /** Static shared memory, and what the driver keeps. */
    private static final int RESERVED = 1024;

    private static final List<Integer> CLUSTERS = List.of(16, 8);

    /** Of a launch, of a layer and of handing on keys and values, in microseconds. */
    private static final double LAUNCH = 5;

    private static final double LAYER = 5;
    private static final double EXCHANGE = 1.5;

    /** Bytes that a block gets from L2 in a microsecond. */
    private static final double L2_RATE = 45e3;

    /** How a product is cut: chunks of a batch, batches of a round of columns, rounds. */
    record Cut(int chunks, int batches, int rounds) {
        int all() {
            return batches * rounds;
        }
    }

    /** Where things lie in shared memory, in bytes, in the order of clustered.cuh. */
    record Layout(
            int between,
            int own,
            int mixed,
            int masks,
            int cells,
            int addends,
            int vectors,
            int layers,
            int segments) {}

    /**
     * A launch.
     *
     * @param blocks of a cluster
     * @param vectorElements that a block fetches of a layer beside weights
     */
    record Form(int blocks, int tiles, int vectorElements, Layout layout, int sharedBytes, boolean together) {
        LaunchShape launch() {
            LaunchShape all = LaunchShape.of(tiles * blocks, WARPS * 32)
                    .withSharedBytes(sharedBytes)
                    .withCluster(blocks);
            return together ? all.withCooperative() : all;
        }
    }

    ClusterPlan {
        cuts = List.copyOf(cuts);
        forms = List.copyOf(forms);
    }

    /** Whether products have an even number of batches, some of them empty; else each has one. */
    boolean paired() {
        return cuts.stream().anyMatch(cut -> cut.all() != 1);
    }

    int tiles() {
        return tiles(shape);
    }

    private static int tiles(Shape shape) {
        return (int) Math.ceilDiv(shape.rows(), (long) TILE);
    }

    int sharedBytes() {
        return forms.stream().mapToInt(Form::sharedBytes).max().orElse(0);
    }

    /** Whether tiles need keys of one another, so that all clusters have to run at once. */
    boolean hands() {
        return shape.keys() > TILE;
    }

    /** Why an encoder is not made this way; empty where it is. */
    static String refusal(ClusterEncoder encoder, DType dtype, DeviceProperties device) {
        Shape shape = encoder.shape();
        if (device.clusterBlocks() < CLUSTERS.getLast()) {
            return "the device has no clusters of " + CLUSTERS.getLast() + " blocks";
        }
        if (shape.hidden() % NORM_COLUMNS != 0 || shape.hidden() > MOST_HIDDEN) {
            return shape.hidden() + " columns; clusters take multiples of " + NORM_COLUMNS + " up to " + MOST_HIDDEN;
        }
        if (shape.inner() % (PARTS * COLUMNS * GROUPS) != 0) {
            return shape.inner() + " columns of the feed-forward; clusters take multiples of "
                    + PARTS * COLUMNS * GROUPS;
        }
        if (shape.keys() > MOST_KEYS) {
            return shape.keys() + " tokens; clusters take at most " + MOST_KEYS;
        }
        if (encoder.layers().size() > MOST_LAYERS) {
            return encoder.layers().size() + " layers; clusters take at most " + MOST_LAYERS;
        }
        if (shape.rows() != shape.keys() && shape.keys() % TILE != 0) {
            return "several sequences of " + shape.keys() + " tokens; clusters take multiples of " + TILE;
        }
        boolean constant = encoder.layers().stream()
                .flatMap(layer -> Stream.of(layer.qkv(), layer.out(), layer.up(), layer.down()))
                .map(Product::weight)
                .allMatch(weight -> weight.value().constant() instanceof ConstantData.Dense);
        if (!constant) {
            return "weights that are no constants; clusters read them packed";
        }
        return forms(encoder, dtype, device).isEmpty()
                ? tiles(shape) + " clusters of " + CLUSTERS.getLast() + " blocks are not resident at once, or need more"
                        + " shared memory"
                : "";
    }

    /** The plan of an encoder that is not refused. */
    static ClusterPlan of(ClusterEncoder encoder, DType dtype, DeviceProperties device) {
        List<Form> forms = forms(encoder, dtype, device);
        return new ClusterPlan(
                dtype,
                encoder.shape(),
                encoder.layers().size(),
                columnTiles(encoder.shape()),
                cuts(encoder.shape(), dtype),
                forms,
                time(encoder, dtype, forms.getFirst()));
    }

    /** Of a layer by the model: what waits for one another, and the weights that a block draws from L2. */
    private static double time(ClusterEncoder encoder, DType dtype, Form form) {
        Shape shape = encoder.shape();
        double weights = (4.0 * shape.hidden() + 2.0 * shape.inner()) * shape.hidden() * dtype.bytes() / form.blocks;
        double layer = LAYER + weights / L2_RATE + (shape.keys() > TILE ? EXCHANGE : 0);
        return LAUNCH + encoder.layers().size() * layer;
    }

    private static List<Form> forms(ClusterEncoder encoder, DType dtype, DeviceProperties device) {
        List<Form> all = new ArrayList<>();
        for (int blocks : CLUSTERS) {
            boolean takes = blocks <= device.clusterBlocks()
                    && TILE / blocks * (encoder.shape().hidden() / NORM_COLUMNS) <= WARPS;
            Form form = takes ? form(encoder, dtype, blocks) : null;
            if (form != null && form.sharedBytes + RESERVED <= device.sharedBytesPerBlockOptIn()) {
                all.add(form);
            }
        }
        return all;
    }

    private static Form form(ClusterEncoder encoder, DType dtype, int blocks) {
        Shape shape = encoder.shape();
        int bytes = dtype.bytes();
        int hidden = (int) shape.hidden();
        int part = (int) shape.inner() / PARTS;
        int heads = Math.ceilDiv((int) shape.heads(), blocks);
        int rows = TILE / blocks;
        int vectors = Math.ceilDiv((VECTORS * hidden + part * PARTS / blocks + 3 * shape.head() * heads) * bytes, LINE)
                * LINE;
        long warps = Math.ceilDiv(shape.keys(), (long) TILE);
        long cells = (long) TILE * (WARPS / GROUPS) * Math.max(3 * shape.head(), part);
        if (shape.keys() > TILE) {
            cells = Math.max(cells, 2L * WARPS * TILE + warps * TILE * shape.head());
        }
        long addends = SizeMath.product("clusters", Math.max(shape.heads(), PARTS), rows, hidden);
        Places places = new Places();
        places.take(TILE * rowBytes(hidden, bytes));
        int between = places.take(TILE * rowBytes(part, bytes));
        int own = places.take(3 * TILE * rowBytes(shape.head(), bytes));
        int mixed = places.take(TILE * rowBytes(shape.head(), bytes));
        int masks = places.take(warps * TILE * TILE * Float.BYTES);
        int cellsAt = places.take(cells * Float.BYTES);
        int addendsAt = places.take(addends * Float.BYTES);
        int vectorsAt = places.take(2L * vectors);
        int layersAt = places.take((long) LAYER_BYTES * encoder.layers().size());
        int segments = places.take((long) SEGMENT_BYTES * encoder.layers().size() * 2 * (heads + PARTS / blocks));
        Layout layout = new Layout(between, own, mixed, masks, cellsAt, addendsAt, vectorsAt, layersAt, segments);
        return new Form(
                blocks, tiles(shape), vectors / bytes, layout, SizeMath.toInt("clusters", places.end), shape.keys() > TILE);
    }

    /** Places one behind the other, each on a boundary of lines. */
    private static final class Places {
        private long end;

        /** The place of so many bytes. */
        int take(long bytes) {
            int at = SizeMath.toInt("clusters", end);
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
        long within = 3L * shape.head() / COLUMNS / GROUPS;
        long part = shape.inner() / PARTS / COLUMNS / GROUPS;
        long across = shape.hidden() / COLUMNS / WARPS / 2;
        return IntStream.iterate(MOST_TILES, tiles -> tiles - 1)
                .filter(tiles -> within % tiles == 0 && part % tiles == 0 && across % tiles == 0)
                .findFirst()
                .orElse(1);
    }

    private static List<Cut> cuts(Shape shape, DType dtype) {
        int tiles = columnTiles(shape);
        int chunk = CHUNK_BYTES / dtype.bytes();
        long part = shape.inner() / PARTS;
        return List.of(
                within(3L * shape.head(), shape.hidden() / chunk, tiles),
                across(shape.hidden(), shape.head() / chunk, tiles),
                within(part, shape.hidden() / chunk, tiles),
                across(shape.hidden(), part / chunk, tiles));
    }

    private static Cut within(long columns, long chunks, int tiles) {
        return cut(chunks / (WARPS / GROUPS), LONG, columns / COLUMNS / GROUPS / tiles);
    }

    private static Cut across(long columns, long chunks, int tiles) {
        return cut(chunks, SHORT, columns / COLUMNS / WARPS / (2L * tiles));
    }

    private static Cut cut(long chunks, int most, long rounds) {
        int each = IntStream.iterate(most, count -> count - 1)
                .filter(count -> chunks % count == 0)
                .findFirst()
                .orElse(1);
        return new Cut(each, (int) chunks / each, (int) rounds);
    }

    /** How the weights of a layer lie: q, k and v, out, up, down. */
    List<Fragments> orders(Layer layer) {
        int hidden = (int) shape.hidden();
        int heads = (int) shape.heads();
        int head = shape.head();
        int part = (int) shape.inner() / PARTS;
        int wide = 2 * columnTiles;
        return List.of(
                new Fragments(heads, true, columnTiles, 3 * head, hidden, head, hidden, head, 0, along(layer.qkv())),
                new Fragments(heads, false, wide, hidden, head, hidden, 0, 0, head, along(layer.out())),
                new Fragments(PARTS, true, columnTiles, part, hidden, part, 0, part, 0, along(layer.up())),
                new Fragments(PARTS, false, wide, hidden, part, hidden, 0, 0, part, along(layer.down())));
    }

    private static boolean along(Product product) {
        return !product.weight().transposed();
    }
}
