package dev.tenon.cuda.kernel;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;

/**
 * How rows of consecutive elements are cut into one launch.
 *
 * @param form whom a row belongs to
 * @param file where the entry is
 * @param entry without suffix
 * @param shape of the launch
 * @param blocks that share a row, as a cluster in the {@link Form#TEAM} form; 1 also where a warp has a row to itself;
 *     in the {@link Form#SHORT} form the lanes that do
 * @param kept packs that a block keeps in shared memory
 * @param stateBytes workspace for what blocks tell one another, 0 where {@code blocks} is 1
 * @param counterBytes workspace that is zeroed once when it is allocated
 * @param reason in words, for reports
 */
public record RowPlan(
        Form form,
        KernelFile file,
        String entry,
        LaunchShape shape,
        int blocks,
        int kept,
        long stateBytes,
        long counterBytes,
        String reason) {
    /** Whom a row belongs to, and where it is kept meanwhile. */
    public enum Form {
        /** Some lanes of a warp, in their registers. */
        SHORT,
        /** A warp, in its registers. */
        WARP,
        /** The warps of a block or of a cluster of blocks, in their registers. */
        TEAM,
        /** One or several blocks, in registers and shared memory as far as it goes; the rest is read twice. */
        BLOCK
    }

    private static final int WIDEST = 16;
    private static final int[] WIDE_PACKS = {1, 2, 4, 8};
    private static final int[] SINGLES = {1, 4, 16, 32};
    private static final int LINE = 128; // elements; a block's stretch of a row is whole lines of any type
    private static final int RESERVED_SHARED = 1024; // of each block, by the system
    private static final int STATIC_SHARED = 1024; // more than the skeleton declares
    private static final int FEW = 128;
    private static final long SHORT_PACKS = 4; // of a lane, as in the source
    private static final int MANY = 512;
    private static final int MOST_THREADS = 1024;
    private static final int TEAM_VALUES = 32; // of a thread, as in the sources; a quarter as many doubles
    private static final int SHORT_TEAM_VALUES = 8;
    /**
     * Larger clusters wait too long for as many multiprocessors at once: on an H200, 8 blocks take 1.2 times as long as
     * blocks that meet in global memory.
     */
    private static final int MOST_CLUSTER = 4;

    private static final int MOST_BLOCKS = Integer.MAX_VALUE;

    /**
     * Nanoseconds that blocks of a row wait for one another, and for what does not fit the chip; bytes a nanosecond
     * that one block and all of them move. From an H200.
     */
    private static final double MEETING = 2500;

    private static final double ASKING_AGAIN = 1500;

    private static final double BLOCK_RATE = 50;
    private static final double CHIP_RATE = 4000;

    /**
     * Plans rows.
     *
     * @param congruent whether x and y lie equally far from 16-byte boundaries
     */
    static RowPlan of(RowRule rule, DType dtype, long rows, long cols, boolean congruent, DeviceProperties device) {
        int width = congruent ? WIDEST / dtype.bytes() : 1;
        long packs = cols / width;
        if (congruent && teamIsSooner(dtype, rows, cols, device)) {
            return team(rule, rows, 1, FEW, "_team_v" + SHORT_TEAM_VALUES);
        }
        int[] held = width > 1 ? WIDE_PACKS : SINGLES;
        for (int each : held) {
            if (packs <= 32L * each) {
                return warp(rule.warp(), rows, rule.prefix + (width > 1 ? "_warp_v16r" : "_warp_v1r") + each, device);
            }
        }
        int blocks = congruent ? teamBlocks(dtype, rows, cols, device) : 0;
        if (blocks > 0) {
            long each = Math.ceilDiv(cols, (long) blocks * LINE) * LINE;
            int threads = Math.max(FEW, wholeWarps(Math.ceilDiv(each, values(dtype, TEAM_VALUES))));
            return team(rule, rows, blocks, threads, blocks == 1 ? "_team_v" + TEAM_VALUES : "_team_cluster");
        }
        return block(rule, dtype, rows, cols, congruent, device);
    }

    /** Plans rows of x, y, gamma and beta that all lie on 16-byte boundaries where the first does. */
    static RowPlan aligned(RowRule rule, DType dtype, long rows, long cols, DeviceProperties device) {
        long bytes = dtype.bytesFor(cols);
        boolean isShort = rule == RowRule.LAYER_NORM
                && dtype != DType.F64
                && bytes % WIDEST == 0
                && bytes / WIDEST <= SHORT_PACKS * 32;
        return isShort ? shortRows(rows, bytes / WIDEST) : of(rule, dtype, rows, cols, true, device);
    }

    /** The fewest lanes a row, so that each has several loads on its way. */
    private static RowPlan shortRows(long rows, long packs) {
        int lanes = 1;
        while (lanes * SHORT_PACKS < packs) {
            lanes *= 2;
        }
        LaunchShape shape =
                LaunchShape.of(blocks(Math.ceilDiv(rows, FEW / lanes)), FEW).withProgrammatic();
        String reason =
                lanes == 32 ? "a row fits the registers of a warp" : "a row fits the registers of " + lanes + " lanes";
        return new RowPlan(Form.SHORT, KernelCatalog.LAYERNORM_SHORT, "layernorm_short", shape, lanes, 0, 0, 0, reason);
    }

    /**
     * Four warps a row where the rows stay in L2: then time is what one row takes. Measured on an H200: 0.9 of a
     * warp's; no gain on rows that come from memory.
     */
    private static boolean teamIsSooner(DType dtype, long rows, long cols, DeviceProperties device) {
        int most = values(dtype, SHORT_TEAM_VALUES) * FEW;
        return cols > most / 2 && cols <= most && SizeMath.estimate(2, rows, dtype.bytesFor(cols)) <= device.l2Bytes();
    }

    /** Blocks that hold a row in their registers; 0 where it takes too many. */
    private static int teamBlocks(DType dtype, long rows, long cols, DeviceProperties device) {
        boolean clusters = device.architecture().number() >= 90;
        int blocks = SizeMath.toInt(
                "rows",
                Math.min(MOST_CLUSTER + 1, Math.ceilDiv(cols, (long) values(dtype, TEAM_VALUES) * MOST_THREADS)));
        if (blocks > (clusters ? MOST_CLUSTER : 1)) {
            return 0;
        }
        // few rows: the multiprocessors that have none help
        while (clusters
                && 2 * blocks <= MOST_CLUSTER
                && 2L * blocks * rows <= device.multiprocessors()
                && cols >= 2L * blocks * FEW * values(dtype, TEAM_VALUES)) {
            blocks *= 2;
        }
        return blocks;
    }

    private static int values(DType dtype, int values) {
        return dtype == DType.F64 ? values / 4 : values;
    }

    private static int wholeWarps(long threads) {
        return SizeMath.toInt("rows", Math.ceilDiv(threads, 32) * 32);
    }

    private static RowPlan team(RowRule rule, long rows, int blocks, int threads, String entry) {
        LaunchShape shape = LaunchShape.of(blocks(SizeMath.product("rows", rows, blocks)), threads);
        String reason = blocks == 1
                ? "a row fits the registers of a block"
                : "a row fits the registers of a cluster of " + blocks + " blocks";
        return new RowPlan(
                Form.TEAM,
                rule.team(),
                rule.prefix + entry,
                blocks == 1 ? shape : shape.withCluster(blocks),
                blocks,
                0,
                0,
                0,
                reason);
    }

    /** Elements of the longest row that {@link #residual} takes: 32 of a thread, 16 doubles, as in the source. */
    static long mostResidualCols(DType dtype) {
        return residualCols(dtype, MANY);
    }

    private static long residualCols(DType dtype, int threads) {
        return threads * (dtype == DType.F64 ? 16L : 32L);
    }

    /** Plans rows of a sum and its norm: a warp or a block has a row in its registers. */
    static RowPlan residual(DType dtype, long rows, long cols, DeviceProperties device) {
        KernelFile file = KernelCatalog.RESIDUAL_NORM;
        long packs = cols / (WIDEST / dtype.bytes());
        for (int each : WIDE_PACKS) {
            if (packs <= 32L * each) {
                return warp(file, rows, "residual_norm_r" + each, device);
            }
        }
        if (cols > mostResidualCols(dtype)) {
            throw new UnsupportedException("residual_norm: a row of " + cols + " elements of " + dtype
                    + " is longer than the " + mostResidualCols(dtype) + " that one block holds; add and norm apart");
        }
        int threads = cols <= residualCols(dtype, FEW) ? FEW : MANY;
        LaunchShape shape = LaunchShape.of(blocks(rows), threads);
        String reason = "a row a block, in registers; no several blocks a row";
        return new RowPlan(Form.BLOCK, file, "residual_norm_t" + threads, shape, 1, 0, 0, 0, reason);
    }

    /**
     * Who has a row whose elements are all in registers, between loads and stores that compute.
     *
     * @param threads of a row: a warp's or a block's
     * @param values that each has at most
     */
    record Threads(int threads, int values) {
        private static final int[][] FORMS = {{32, 8}, {32, 16}, {32, 32}, {FEW, 32}, {MANY, 32}};

        /** The fewest for rows of {@code cols} elements. @throws UnsupportedException for more than the longest */
        static Threads of(DType dtype, long cols) {
            int most = dtype == DType.F64 ? 16 : 32;
            for (int[] form : FORMS) {
                if (form[1] <= most && cols <= (long) form[0] * form[1]) {
                    return new Threads(form[0], form[1]);
                }
                if (form[0] > 32 && cols <= (long) form[0] * most) {
                    return new Threads(form[0], most);
                }
            }
            throw new UnsupportedException("row_fused: a row of " + cols + " elements of " + dtype
                    + " is longer than the " + mostResidualCols(dtype) + " that one block holds");
        }
    }

    /** Plans rows for {@code row_fused.cu}. */
    static RowPlan fused(DType dtype, long rows, long cols, DeviceProperties device) {
        KernelFile file = KernelCatalog.FUSED_ROWS;
        int threads = Threads.of(dtype, cols).threads();
        if (threads == 32) {
            return warp(file, rows, "row_fused", device).overlapping();
        }
        LaunchShape shape = LaunchShape.of(blocks(rows), threads).withProgrammatic();
        return new RowPlan(Form.BLOCK, file, "row_fused", shape, 1, 0, 0, 0, "a row a block, in registers");
    }

    private static RowPlan warp(KernelFile file, long rows, String entry, DeviceProperties device) {
        int warps = rows >= 16L * device.multiprocessors() ? 4 : rows >= 4L * device.multiprocessors() ? 2 : 1;
        LaunchShape shape = LaunchShape.of(blocks(Math.ceilDiv(rows, warps)), 32 * warps);
        return new RowPlan(Form.WARP, file, entry, shape, 1, 0, 0, 0, "a row fits the registers of a warp");
    }

    /** The form for rows of any length. */
    static RowPlan block(RowRule rule, DType dtype, long rows, long cols, boolean congruent, DeviceProperties device) {
        int width = congruent ? WIDEST / dtype.bytes() : 1;
        long packs = cols / width;
        int packBytes = SizeMath.toInt("rows", dtype.bytesFor(width));
        int registers = width > 1 ? 4 : dtype == DType.F64 ? 8 : 16; // packs of a thread, as in the sources
        int threads = !congruent && packs <= (long) registers * FEW ? FEW : MANY;
        int resident = RowRule.residentBlocks(dtype) * (MANY / threads);
        int shared = Math.min(
                        device.sharedBytesPerBlockOptIn() - STATIC_SHARED,
                        device.sharedBytesPerMultiprocessor() / resident - RESERVED_SHARED - STATIC_SHARED)
                / WIDEST
                * WIDEST;
        int canKeep = shared / packBytes;
        int slots = device.multiprocessors() * resident;
        int together = together(rows, packs, packBytes, registers * threads + canKeep, slots);
        long each = Math.ceilDiv(packs, together);
        if (each > Integer.MAX_VALUE / 2) {
            throw new UnsupportedException(
                    rule.prefix + ": rows of " + packs * width + " elements are too long for " + device.name());
        }
        int kept = Math.clamp(each - (long) registers * threads, 0, canKeep);
        int groups = (int) Math.min(rows, slots / together);
        LaunchShape shape = LaunchShape.of(groups * together, threads).withSharedBytes(kept * packBytes);
        String entry = rule.prefix + "_block_" + (width > 1 ? "v16t" : "v1t") + threads;
        if (together == 1) {
            String reason = "a row a block" + (kept > 0 ? ", part of it in shared memory" : ", in registers");
            return new RowPlan(Form.BLOCK, rule.block(), entry, shape, 1, kept, 0, 0, reason);
        }
        return new RowPlan(Form.BLOCK, rule.block(), entry, shape, 1, kept, 0, 0, "")
                .together(together, groups, rule, dtype);
    }

    /** This plan, in the block form, with that many blocks a row and rows at a time. */
    public RowPlan together(int blocks, int groups, RowRule rule, DType dtype) {
        LaunchShape one = LaunchShape.of(groups * blocks, shape.blockX()).withSharedBytes(shape.sharedBytes());
        return new RowPlan(
                form,
                file,
                entry,
                one.withCooperative(),
                blocks,
                kept,
                2L * groups * blocks * rule.stateBytes(dtype),
                2L * groups * Integer.BYTES,
                blocks + " blocks a row, " + groups + " rows at a time");
    }

    /** The same launch, allowed to start before its predecessor in the stream has ended. */
    RowPlan overlapping() {
        return new RowPlan(form, file, entry, shape.withProgrammatic(), blocks, kept, stateBytes, counterBytes, reason);
    }

    /**
     * The number of blocks a row that is done soonest: more blocks shorten a row, but meet, and fewer rows go at a
     * time.
     */
    private static int together(long rows, long packs, int packBytes, int onChip, int slots) {
        int best = 1;
        double least = Double.POSITIVE_INFINITY;
        for (int g = 1; g <= slots; g++) {
            long groups = Math.min(rows, slots / g);
            double rounds = g == 1 ? Math.max(1, (double) rows / slots) : Math.ceilDiv(rows, groups);
            double packsEach = Math.ceilDiv(packs, g);
            double twice = Math.max(0, packsEach - onChip);
            double bytes = packBytes * (2 * packsEach + twice);
            double waiting = (g == 1 ? 0 : MEETING) + (twice == 0 ? 0 : ASKING_AGAIN);
            double busy = (double) groups * g / slots; // the chip's rate takes all its multiprocessors
            double chip = CHIP_RATE * (0.5 + 0.5 * Math.min(1, busy));
            double time = rounds * (Math.max(bytes / BLOCK_RATE, bytes * groups * g / chip) + waiting);
            if (time < 0.995 * least) { // fewer blocks where more gain next to nothing
                least = time;
                best = g;
            }
        }
        return best;
    }

    private static int blocks(long wanted) {
        if (wanted > MOST_BLOCKS) {
            throw new UnsupportedException("a launch of " + wanted + " blocks; the device's limit is " + MOST_BLOCKS);
        }
        return (int) wanted;
    }
}
