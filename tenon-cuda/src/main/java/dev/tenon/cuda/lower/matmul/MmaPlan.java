package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.ProductCatalog.Tile;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;

/**
 * How a product is cut into tiles on tensor cores: the tile and the splits of k that a model of time finds fastest.
 *
 * <p>A multiprocessor has {@code blocks / multiprocessors} blocks, rounded up, of which some are resident at once. They
 * take the longest of three times: what the tensor cores multiply, at a rate that depends on the tile; what L2 brings
 * for all of them; and rounds of resident blocks one after the other, each of which waits for its first operands, then
 * for each of its steps, and stores its results. What memory brings for the whole product is a bound of its own. Splits
 * cost a pass of their sums through L2.
 *
 * @param tile of a block
 * @param packed whether lines of both operands are whole 16-byte chunks
 * @param splits of k, at least 1
 * @param tiles of all matrices
 * @param clocks of the device that it takes, by the model
 */
record MmaPlan(Tile tile, boolean packed, int splits, long tiles, double clocks) {
    private static final int CHUNK = 16;
    private static final int STEP_BYTES = 128;
    private static final int RESERVED_SHARED = 1024;
    private static final int MOST_SPLITS = 32;
    private static final long MOST_WORKSPACE = 32 << 20;

    /** Clocks from the start of a block to its first product; what a result adds at its end. From an H200. */
    private static final double ENTRY = 2000;

    private static final double STORING = 0.08;
    /** From the copies of a step to its products, in a pipeline; of a barrier. */
    private static final double LATENCY = 600;

    private static final double BARRIER = 100;
    /** Of the last block of a tile, which waits for the others' sums. */
    private static final double MEETING = 2500;

    /** A microsecond, on an H200. */
    private static final double CLOCKS = 1700;

    /** Bytes a clock that a multiprocessor takes in, alone and with all others; that memory brings to each. */
    private static final double COPY_RATE = 50;

    private static final double L2_RATE = 38;
    private static final double MEMORY_RATE = 17;

    /** Why tensor cores do not take a product; empty where they do. */
    static String refusal(DType dtype, MatMulShape shape, Precision precision, DeviceProperties device) {
        if (dtype == DType.F64) {
            return "tensor cores take f16, bf16 and TF32, not f64";
        }
        if (dtype == DType.F32 && precision == Precision.STRICT) {
            return "f32 is asked for, not TF32";
        }
        int least = ProductCatalog.capability(dtype);
        if (device.architecture().number() < least) {
            return "compute capability " + device.architecture().major() + "."
                    + device.architecture().minor() + " is below " + least / 10 + "." + least % 10;
        }
        return shape.k() == 0 ? "the sum is empty" : "";
    }

    /**
     * The fastest plan for a product that is not empty.
     *
     * @param specific whether code for the device's own form can be compiled
     * @param wanted the tile; null for any
     */
    static MmaPlan of(
            DType dtype, MatMulShape shape, DeviceProperties device, boolean specific, @Nullable Tile wanted) {
        return of(dtype, shape, device, specific, wanted, MOST_SPLITS);
    }

    /** The fastest plan in which no tile is shared by blocks. */
    static MmaPlan unsplit(
            DType dtype, MatMulShape shape, DeviceProperties device, boolean specific, @Nullable Tile wanted) {
        return of(dtype, shape, device, specific, wanted, 1);
    }

    private static MmaPlan of(
            DType dtype,
            MatMulShape shape,
            DeviceProperties device,
            boolean specific,
            @Nullable Tile wanted,
            int most) {
        boolean packed = alongA(dtype, shape) && alongB(dtype, shape);
        MmaPlan best = null;
        for (Tile tile : Tile.values()) {
            boolean fits = tile.sharedBytes(device.architecture().number()) <= device.sharedBytesPerBlockOptIn()
                    && tile.takes(dtype, !shape.transposeA(), packed)
                    && (!tile.ofWarpgroups()
                            || (specific && device.architecture().number() == 90));
            if (!fits || (wanted != null && tile != wanted)) {
                continue;
            }
            long tiles = SizeMath.product(
                    "matmul",
                    Math.ceilDiv(shape.m(), tile.rows()),
                    Math.ceilDiv(shape.n(), tile.columns()),
                    shape.matrices());
            long allowed = Math.min(most, mostSplits(dtype, shape, tile, tiles, device));
            for (int splits = 1; splits <= allowed; splits *= 2) {
                double clocks = clocks(dtype, shape, tile, tiles, splits, device);
                if (best == null || clocks < best.clocks) {
                    best = new MmaPlan(tile, packed, splits, tiles, clocks);
                }
            }
        }
        if (best == null) {
            throw new IllegalStateException("no tile fits " + device.name() + " and " + shape);
        }
        return best;
    }

    /** Whether lines of a in memory are whole chunks on 16-byte boundaries. */
    static boolean alongA(DType dtype, MatMulShape shape) {
        return (shape.transposeA() ? shape.m() : shape.k()) % (CHUNK / dtype.bytes()) == 0;
    }

    /** Likewise of b. */
    static boolean alongB(DType dtype, MatMulShape shape) {
        return (shape.transposeB() ? shape.k() : shape.n()) % (CHUNK / dtype.bytes()) == 0;
    }

    private static long steps(DType dtype, MatMulShape shape) {
        return Math.ceilDiv(shape.k(), STEP_BYTES / dtype.bytes());
    }

    private static long mostSplits(DType dtype, MatMulShape shape, Tile tile, long tiles, DeviceProperties device) {
        long resident = (long) resident(tile, device) * device.multiprocessors();
        long each = (long) tile.rows() * tile.columns() * Float.BYTES;
        long room = MOST_WORKSPACE / each / tiles;
        return Math.max(1, Math.min(Math.min(MOST_SPLITS, room), Math.min(steps(dtype, shape) / 2, resident / tiles)));
    }

    /** Blocks of a tile that a multiprocessor holds at once. */
    static int resident(Tile tile, DeviceProperties device) {
        int shared = tile.sharedBytes(device.architecture().number()) + RESERVED_SHARED;
        int byShared = device.sharedBytesPerMultiprocessor() / shared;
        int byRegisters = device.registersPerMultiprocessor() / (tile.threads() * tile.registers());
        return Math.max(1, Math.min(byShared, byRegisters));
    }

    private static double clocks(
            DType dtype, MatMulShape shape, Tile tile, long tiles, int splits, DeviceProperties device) {
        int multiprocessors = device.multiprocessors();
        int resident = resident(tile, device);
        double steps = Math.ceilDiv(steps(dtype, shape), splits);
        double blocks = (double) tiles * splits;
        double each = Math.ceil(blocks / multiprocessors);
        double outputs = (double) tile.rows() * tile.columns();
        double bytes = (double) (tile.rows() + tile.columns()) * STEP_BYTES;
        double products = outputs * STEP_BYTES / tile.rate();
        double together = each * steps * Math.max(products, bytes / L2_RATE);
        double beside = Math.min(resident, each);
        double step = Math.max(products, bytes / COPY_RATE);
        double round =
                ENTRY + beside * outputs * STORING + steps * Math.max(beside * step, Math.max(LATENCY, step + BARRIER));
        double rounds = Math.ceil(blocks / (multiprocessors * beside)) * round;
        double width = dtype.bytes();
        double elements = (double) shape.matrices()
                * ((double) shape.m() * shape.k() + (double) shape.k() * shape.n() + (double) shape.m() * shape.n());
        double memory = elements * width / (MEMORY_RATE * multiprocessors);
        double meeting = splits == 1 ? 0 : MEETING + (each + splits) * outputs * Float.BYTES / L2_RATE;
        return Math.max(together + ENTRY, Math.max(rounds, memory + ENTRY)) + meeting;
    }

    /** Of an H200. */
    double microseconds() {
        return clocks / CLOCKS;
    }

    /** {@code matmul_wmma 128x64, 4 splits of k}. */
    String text() {
        return "matmul_wmma " + tile + (packed ? "" : " unpacked")
                + (splits == 1 ? "" : ", " + splits + " splits of k");
    }
}
