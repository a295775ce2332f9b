package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.lower.resident.ResidentPhase.Kind;
import dev.tenon.cuda.lower.resident.ResidentPhase.Rows;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.ArrayList;
import java.util.List;

/**
 * How a segment is spread over a device: pure arithmetic.
 *
 * @param blocks of the launch, all resident
 * @param parts blocks of a row tile
 * @param affine where scale and shift lie in shared memory, in bytes
 * @param cells where sums lie
 * @param weights where weights lie
 * @param half bytes of what is there of weights at a time; there are two
 * @param sharedBytes of a block
 * @param spreads of each phase
 * @param microseconds that it takes by the model
 */
record ResidentPlan(
        int blocks,
        int parts,
        int affine,
        int cells,
        int weights,
        int half,
        int sharedBytes,
        List<Spread> spreads,
        double microseconds) {
    /** Phases of a launch. */
    static final int MOST_PHASES = 30;

    static final int WARPS = 16;
    private static final int TILE = 16;
    private static final int COLUMNS = 8;
    private static final int CELL_BYTES = TILE * COLUMNS * Float.BYTES;
    private static final int STEPS = 4;

    /** Column tiles of a round, times warps that share k. */
    private static final int MOST_SUMS = 40;

    private static final int CHUNK_BYTES = 64;
    private static final int LINE = 128;

    /** What is fetched ahead has two places. */
    private static final int SLOTS = 2;

    /** Static shared memory: the phases; and what the driver keeps. */
    private static final int RESERVED = MOST_PHASES * 128 + 1024;

    /** Column tiles of a part up to which more blocks gain nothing. */
    private static final int FEW_TILES = 3;

    /** Of a launch and of a phase, fitted to runs on an H200: the loads and stores that wait for one another. */
    private static final double LAUNCH = 5;

    private static final double PHASE = 1.8;
    private static final double F32_PHASE = 2.5;
    private static final double NORM = 0.7;
    private static final double ATTENTION = 1.4;

    /** Bytes that a multiprocessor gets from L2 in a microsecond, and all from memory. */
    private static final double L2_RATE = 14e3;

    private static final double MEMORY_RATE = 2.4e6;

    /**
     * How a product is spread.
     *
     * @param least column tiles of each part
     * @param more parts that have one more
     * @param ways logarithm of the column tiles that warps take at a time
     * @param round column tiles in shared memory at a time
     */
    record Spread(int least, int more, int ways, int round) {
        static final Spread NONE = new Spread(0, 0, 0, 1);
    }

    ResidentPlan {
        spreads = List.copyOf(spreads);
    }

    /** Whether a device has what the kernel asks for, and why not; empty where it has. */
    static String refusal(ResidentSegment segment, DeviceProperties device) {
        if (device.architecture().number() < 80) {
            return "compute capability " + device.architecture() + " is less than 8.0";
        }
        if (!device.cooperativeLaunch()) {
            return "the device has no cooperative launches";
        }
        long tiles = Math.ceilDiv(rows(segment), (long) TILE);
        if (tiles > device.multiprocessors()) {
            return rows(segment) + " rows; it takes at most " + (long) TILE * device.multiprocessors();
        }
        Layout layout = Layout.of(segment, device);
        long widest = segment.phases().stream()
                .filter(phase -> phase.kind() == Kind.PRODUCT)
                .mapToLong(phase -> COLUMNS * layout.rowBytes(phase.sizes().k()))
                .max()
                .orElse(0);
        return widest > layout.half()
                ? "a block needs " + (layout.weights + 2 * widest) + " bytes of shared memory; it has " + layout.limit
                : "";
    }

    /** The plan of a segment that a device takes. */
    static ResidentPlan of(ResidentSegment segment, DeviceProperties device) {
        Layout layout = Layout.of(segment, device);
        int tiles = (int) Math.ceilDiv(rows(segment), (long) TILE);
        long most = segment.phases().stream()
                .filter(phase -> phase.kind() == Kind.PRODUCT)
                .mapToLong(phase -> phase.sizes().n() / COLUMNS)
                .max()
                .orElse(1);
        int parts = Math.clamp(Math.ceilDiv(most, (long) FEW_TILES), 1, device.multiprocessors() / tiles);
        List<Spread> spreads = new ArrayList<>();
        double time = LAUNCH * Math.ceilDiv(segment.phases().size(), MOST_PHASES);
        for (ResidentPhase phase : segment.phases()) {
            Spread spread = phase.kind() == Kind.PRODUCT ? spread(phase, parts, layout) : Spread.NONE;
            spreads.add(spread);
            time += time(phase, parts, layout);
        }
        return new ResidentPlan(
                tiles * parts,
                parts,
                layout.affine,
                layout.cells,
                layout.weights,
                layout.half(),
                layout.limit,
                spreads,
                time);
    }

    private static long rows(ResidentSegment segment) {
        return segment.phases().getFirst().sizes().rows();
    }

    /** How warps share a part's column tiles and k: the way that takes the fewest steps one behind the other. */
    private static Spread spread(ResidentPhase phase, int parts, Layout layout) {
        int all = (int) (phase.sizes().n() / COLUMNS);
        int mine = Math.ceilDiv(all, parts);
        int chunks = (int) (phase.sizes().k() * layout.bytes / CHUNK_BYTES);
        int fit =
                (int) (layout.half() / (COLUMNS * layout.rowBytes(phase.sizes().k())));
        double least = Double.POSITIVE_INFINITY;
        Spread best = Spread.NONE;
        for (int log = 0; 1 << log <= WARPS; log++) {
            int ways = 1 << log;
            int splits = WARPS / ways;
            int rounds = Math.ceilDiv(mine, Math.min(Math.min(fit, mine), Math.min(STEPS * ways, MOST_SUMS / splits)));
            int round = Math.ceilDiv(mine, rounds);
            double steps = rounds * (2.0 * Math.ceilDiv(round, ways) * Math.ceilDiv(chunks, splits) + 8)
                    + splits * round / 8.0;
            if (steps < least) {
                least = steps;
                best = new Spread(all / parts, all % parts, log, round);
            }
        }
        return best;
    }

    private static double time(ResidentPhase phase, int parts, Layout layout) {
        double own = switch (phase.source()) {
            case PLAIN -> 0;
            case NORM -> NORM;
            case ATTENTION -> ATTENTION;
        };
        own += layout.bytes == Float.BYTES ? F32_PHASE : PHASE;
        if (phase.kind() != Kind.PRODUCT) {
            return own;
        }
        double elements = (double) Math.ceilDiv(phase.sizes().n(), (long) parts)
                * phase.sizes().k();
        double weights = (double) phase.sizes().n() * phase.sizes().k() * layout.bytes;
        double fetch = elements * layout.bytes / L2_RATE;
        double fromMemory = weights / MEMORY_RATE * (layout.fitsCache ? 0 : 1);
        return own + Math.max(fetch, fromMemory);
    }

    /** Where things lie in a block's shared memory. */
    private record Layout(int bytes, int affine, int cells, int weights, int limit, boolean fitsCache) {
        static Layout of(ResidentSegment segment, DeviceProperties device) {
            int bytes = segment.dtype().bytes();
            long rows = 0;
            long affine = 0;
            long weights = 0;
            long cells = (long) MOST_SUMS * CELL_BYTES;
            for (ResidentPhase phase : segment.phases()) {
                ResidentPhase.Sizes sizes = phase.sizes();
                if (phase.kind() == Kind.ATTENTION) {
                    long warps = Math.ceilDiv(sizes.keys(), (long) TILE);
                    cells = Math.max(cells, Float.BYTES * (2L * WARPS * TILE + warps * TILE * sizes.head()));
                } else {
                    rows = Math.max(rows, TILE * rowBytes(sizes.k(), bytes));
                    weights += phase.kind() == Kind.PRODUCT ? sizes.n() * sizes.k() * bytes : 0;
                }
                if (phase.source() == Rows.NORM || phase.kind() == Kind.NORM) {
                    affine = Math.max(affine, SLOTS * 2 * sizes.k() * bytes);
                }
            }
            int behindRows = SizeMath.toInt("resident", Math.ceilDiv(rows, LINE) * LINE);
            int behindAffine = SizeMath.toInt("resident", Math.ceilDiv(behindRows + affine, LINE) * LINE);
            int behindCells = SizeMath.toInt("resident", Math.ceilDiv(behindAffine + cells, LINE) * LINE);
            return new Layout(
                    bytes,
                    behindRows,
                    behindAffine,
                    behindCells,
                    device.sharedBytesPerBlockOptIn() - RESERVED,
                    weights <= device.l2Bytes() * 0.9);
        }

        /** Bytes of one of the two places of weights. */
        int half() {
            return Math.max(0, limit - weights) / SLOTS / LINE * LINE;
        }

        long rowBytes(long k) {
            return rowBytes(k, bytes);
        }

        /** As wide_row of resident.cuh. */
        private static long rowBytes(long k, int bytes) {
            long row = k * bytes;
            return row % LINE == 0 ? row + CHUNK_BYTES : row;
        }
    }
}
