package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.lower.resident.EncoderLayers.Layer;
import dev.tenon.cuda.lower.resident.EncoderLayers.Product;
import dev.tenon.cuda.lower.resident.EncoderLayers.Shape;
import dev.tenon.cuda.lower.step.WeightOrder.Fragments;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.Collections;
import java.util.List;

/**
 * How the layers of an encoder are spread over blocks with roles, for sequences of at most 16 tokens, a tile
 * each: a block a head, a block 64 columns of the feed-forward, a block a row ({@code layers_tile.cu}).
 *
 * @param dtype of operands
 */
record TilePlan(DType dtype, Shape shape, int layers) implements EncoderPlan {
    /** Columns of a block's part of the feed-forward. */
    private static final int PART = 64;

    private static final int WARPS = 16;
    private static final int THREADS = 32 * WARPS;
    private static final int COLUMNS = 8;

    /** Of warps, by columns, in products of whole rows; the others share k. */
    private static final int GROUPS = 4;

    private static final int SPLITS = WARPS / GROUPS;

    /** Elements of k in a piece. */
    private static final int CHUNK = 32;

    /** Pieces of 16 bytes that a thread holds of its block's weights. */
    private static final int MOST_PIECES = 16;

    private static final int STEP = COLUMNS * WARPS;
    private static final int MOST_HIDDEN = 512;

    /** Registers of a thread. */
    private static final int REGISTERS = 128;

    private static final int LAYER_BYTES = 128;

    /** Words of the struct that other forms fill. */
    private static final int SIZES = 25;

    /**
     * In microseconds, fitted to kernels alone on an H200 and 6 percent more than these: of a launch, of a layer, of a
     * part of the feed-forward, which each row's block adds up.
     */
    private static final double LAUNCH = 5;

    private static final double LAYER = 6;
    private static final double EACH_PART = 0.07;

    /** Blocks of the feed-forward. */
    private int parts() {
        return (int) (shape.inner() / PART);
    }

    private int heads() {
        return (int) shape.heads();
    }

    private int tiles() {
        return (int) (shape.rows() / shape.keys());
    }

    private int blocks() {
        return SizeMath.toInt("layers", SizeMath.product("layers", tiles(), heads() + parts() + shape.keys()));
    }

    @Override
    public LaunchShape launch() {
        return LaunchShape.of(blocks(), THREADS).withSharedBytes(sharedBytes()).withCooperative();
    }

    /** The layers, then rows, q, k and v, what they see, sums, masks: what a head's block needs. Others need less. */
    private int sharedBytes() {
        int head = shape.head();
        long elements = TILE * wide(shape.hidden()) + 4L * TILE * wide(head);
        long sums = 3L * SPLITS * TILE * head + TILE * TILE;
        long bytes = SizeMath.sum(
                "layers", (long) LAYER_BYTES * layers, SizeMath.product("layers", elements, dtype.bytes()));
        return SizeMath.toInt("layers", SizeMath.sum("layers", bytes, SizeMath.product("layers", sums, Float.BYTES)));
    }

    /** As wide_row of resident.cuh. */
    private static long wide(long columns) {
        return columns + (columns % (2 * CHUNK) == 0 ? CHUNK : 0);
    }

    @Override
    public long wordBytes() {
        long sums = SizeMath.product("layers", heads() + parts(), shape.hidden(), Float.BYTES);
        long rows = SizeMath.product("layers", shape.hidden(), dtype.bytes());
        long each = SizeMath.sum("layers", rows, SizeMath.product("layers", layers, sums + 2 * rows));
        return SizeMath.product("layers", tiles(), TILE, each);
    }

    /** Why an encoder is not made this way; empty where it is. */
    static String refusal(EncoderLayers encoder, DType dtype, DeviceProperties device) {
        Shape shape = encoder.shape();
        if (dtype.bytes() != Short.BYTES) {
            return dtype + "; it takes types of 16 bits";
        }
        if (shape.keys() > TILE) {
            return shape.keys() + " tokens; it takes at most " + TILE;
        }
        if (shape.hidden() % STEP != 0 || shape.hidden() > MOST_HIDDEN) {
            return shape.hidden() + " columns; it takes multiples of " + STEP + " up to " + MOST_HIDDEN;
        }
        if (shape.inner() % PART != 0) {
            return shape.inner() + " columns of the feed-forward; it takes multiples of " + PART;
        }
        long pieces = shape.head() / COLUMNS * (shape.hidden() / STEP);
        if (pieces > MOST_PIECES) {
            return pieces + " pieces of a head's weights a thread; it takes at most " + MOST_PIECES;
        }
        String refused = EncoderPlan.refusal(encoder, dtype, device);
        return refused.isEmpty() ? EncoderPlan.room(of(encoder, dtype).launch(), REGISTERS, device) : refused;
    }

    /** The plan of an encoder that is not refused. */
    static TilePlan of(EncoderLayers encoder, DType dtype) {
        return new TilePlan(dtype, encoder.shape(), encoder.layers().size());
    }

    @Override
    public double microseconds() {
        return LAUNCH + layers * (LAYER + EACH_PART * parts());
    }

    @Override
    public List<Integer> sizes() {
        return Collections.nCopies(SIZES, 0);
    }

    @Override
    public Kernel kernel(Kernels kernels) {
        return kernels.kernel(
                AttentionCatalog.LAYERS_TILE,
                "layers_tile",
                AttentionCatalog.tile(dtype, shape.head(), (int) shape.hidden()),
                sharedBytes());
    }

    @Override
    public List<Fragments> orders(Layer layer) {
        int hidden = (int) shape.hidden();
        int head = shape.head();
        int rowTiles = hidden / STEP;
        int headTiles = 3 * head / COLUMNS / GROUPS;
        int partTiles = PART / COLUMNS / GROUPS;
        return List.of(
                new Fragments(heads(), GROUPS, SPLITS, headTiles, 3 * head, hidden, head, hidden, along(layer.qkv())),
                new Fragments(1, WARPS, heads(), rowTiles, hidden, hidden, hidden, 0, along(layer.out())),
                new Fragments(parts(), GROUPS, SPLITS, partTiles, PART, hidden, PART, 0, along(layer.up())),
                new Fragments(
                        1, WARPS, parts(), rowTiles, hidden, (int) shape.inner(), hidden, 0, along(layer.down())));
    }

    private static boolean along(Product product) {
        return !product.weight().transposed();
    }
}
