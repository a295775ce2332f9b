package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.StateCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** Products with weights of 8 and 4 bits that have scales: tier 0q of the ladder. Thread-safe. */
public final class ScaledProducts {
    private static final int THREADS = 256;
    private static final long ROWS = 8;
    private static final long FOUR = 4;
    private static final int RUN = 16;

    /** Warps of a block, rows of the weight of each, and bits that a lane reads of one. */
    private static final long WARPS = 8;

    private static final long WARP_ROWS = 4;

    /** Blocks of a multiprocessor; warps share rows where they are then no more than there are places. */
    private static final long RESIDENT = 2;

    private static final long LANE_BITS = 128;

    private ScaledProducts() {}

    /**
     * What is multiplied.
     *
     * @param rows of x
     * @param columns rows of the weight
     * @param depth the summed size
     * @param block elements of a row with one scale
     */
    private record Sizes(long rows, long columns, long depth, long block) {
        static Sizes of(ScaledMatMul op, Node node) {
            Shape x = node.input(0).shape();
            long depth = x.size(x.rank() - 1);
            return new Sizes(
                    x.elements(0, x.rank() - 1),
                    node.input(1).shape().size(0),
                    depth,
                    op.block() == 0 ? Math.max(1, depth) : op.block());
        }

        /** The logarithm of the block; 63 for one block a row. */
        int shift() {
            return block >= depth ? Long.SIZE - 1 : Long.numberOfTrailingZeros(block);
        }

        /** Whether rows and blocks are made of runs of so many elements. */
        boolean inRuns(long run) {
            return depth % run == 0 && (block % run == 0 || block >= depth);
        }
    }

    /**
     * One launch: for one row of x a kernel that streams, for more than eight tiles on tensor cores, else four rows of
     * the weight a warp.
     */
    public static GpuStep lower(ScaledMatMul op, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Sizes sizes = Sizes.of(op, node);
        List<String> refusals = new ArrayList<>();
        if (sizes.rows == 1) {
            DeviceProperties device = context.kernels().context().device();
            DType q = node.input(1).dtype();
            PackedMmaGemv mma = op.zeroPoint()
                    ? PackedMmaGemv.none("scaled_gemv_mma", "zero points")
                    : PackedMmaGemv.of(q, sizes.block, node.output().dtype(), sizes.columns, sizes.depth, device);
            if (mma.refusal().isEmpty()) {
                return row(op, mma, sizes, node, context);
            }
            refusals.add(mma.refusal());
            String refusal = rowRefusal(sizes, node);
            if (refusal.isEmpty()) {
                return row(op, sizes, node, context).passing(refusals);
            }
            refusals.add("scaled_gemv: " + refusal);
        } else {
            String refusal = tiledRefusal(sizes, node, context);
            if (refusal.isEmpty()) {
                return tiled(op, sizes, node, context);
            }
            refusals.add("scaled_matmul_mma: " + refusal);
            refusals.add("scaled_gemv: " + sizes.rows + " rows of x; it takes one");
        }
        return plain(op, sizes, node, context).passing(refusals);
    }

    private static String rowRefusal(Sizes sizes, Node node) {
        if (node.output().dtype() == DType.F64) {
            return "f64, which it does not sum in";
        }
        if (sizes.block < sizes.depth && Long.bitCount(sizes.block) != 1) {
            return "blocks of " + sizes.block + "; it takes powers of two";
        }
        return runRefusal(sizes, LANE_BITS / node.input(1).dtype().bits());
    }

    /** Why the form on tensor cores does not take a product; empty where it does. */
    private static String tiledRefusal(Sizes sizes, Node node, GpuLoweringContext context) {
        DType dtype = node.output().dtype();
        if (sizes.rows <= ROWS) {
            return sizes.rows + " rows of x; it pays from " + (ROWS + 1) + " on";
        }
        if (dtype != DType.F16 && dtype != DType.BF16) {
            return "x of " + dtype + "; it takes f16 and bf16";
        }
        DeviceProperties device = context.kernels().context().device();
        String refusal = tile(sizes, node).refusal(sizes.depth, device);
        return refusal.isEmpty() ? runRefusal(sizes, RUN) : refusal;
    }

    private static PackedTile tile(Sizes sizes, Node node) {
        boolean wide = sizes.block >= sizes.depth || sizes.block % (2 * RUN) == 0;
        return PackedTile.of(node.input(1).dtype().bits(), wide ? 2 * RUN : RUN);
    }

    private static String runRefusal(Sizes sizes, long run) {
        return sizes.depth > 0 && sizes.inRuns(run)
                ? ""
                : "depth " + sizes.depth + " in blocks of " + sizes.block + "; it takes multiples of " + run;
    }

    private static LaunchStep row(ScaledMatMul op, Sizes sizes, Node node, GpuLoweringContext context) {
        DType q = node.input(1).dtype();
        long chunk = 32 * LANE_BITS / q.bits();
        long slices = 1;
        long most = RESIDENT * context.kernels().context().device().multiprocessors();
        while (slices < WARPS
                && 2 * slices * chunk <= sizes.depth
                && Math.ceilDiv(sizes.columns, WARP_ROWS * WARPS / (2 * slices)) <= most) {
            slices *= 2;
        }
        long each = WARP_ROWS * WARPS / slices;
        LaunchShape shape = LaunchShape.of(SizeMath.toInt("scaled_mat_mul", Math.ceilDiv(sizes.columns, each)), THREADS)
                .withProgrammatic();
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.SCALED_GEMV,
                        "scaled_gemv",
                        StateCatalog.scaled(q.bits(), node.output().dtype()));
        PreparedLaunch call = operands(PreparedLaunch.of(kernel, shape), op, node, context)
                .addAll(sizes.columns, sizes.depth, op.blocks(sizes.depth))
                .add(sizes.shift())
                .add(isSigned(q))
                .add((int) slices)
                .add(node.input(1).constant() != null)
                .build();
        return LaunchStep.of("scaled_gemv " + q + ", " + slices + " slices a row", call);
    }

    private static LaunchStep row(
            ScaledMatMul op, PackedMmaGemv gemv, Sizes sizes, Node node, GpuLoweringContext context) {
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.SCALED_GEMV_MMA,
                        "scaled_gemv_mma",
                        KernelVariant.of(node.output().dtype()),
                        gemv.shape().sharedBytes());
        DType q = node.input(1).dtype();
        PreparedLaunch call = PreparedLaunch.of(kernel, gemv.shape())
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(context.slot(node.output()))
                .addAll(sizes.columns, sizes.depth, op.blocks(sizes.depth))
                .add(sizes.shift())
                .add(isSigned(q))
                .add(gemv.share())
                .add(node.inputs().stream().skip(1).allMatch(input -> input.constant() != null))
                .build();
        return LaunchStep.of("scaled_gemv_mma " + q + ", 16 rows a warp", call);
    }

    private static LaunchStep tiled(ScaledMatMul op, Sizes sizes, Node node, GpuLoweringContext context) {
        DType q = node.input(1).dtype();
        PackedTile tile = tile(sizes, node);
        LaunchShape shape = tile.shape("scaled_mat_mul", sizes.rows, sizes.columns);
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.SCALED_MATMUL_MMA,
                        "scaled_matmul_mma",
                        StateCatalog.scaledRuns(
                                q.bits(), tile.run(), node.output().dtype()),
                        shape.sharedBytes());
        PreparedLaunch call = operands(PreparedLaunch.of(kernel, shape), op, node, context)
                .addAll(sizes.rows, sizes.columns, sizes.depth, sizes.block, op.blocks(sizes.depth))
                .add(isSigned(q))
                .build();
        return LaunchStep.of("scaled_matmul_mma " + q + ", " + tile.tier() + ", runs of " + tile.run(), call);
    }

    /** Four neighbours a lane where rows and blocks are multiples of 4. */
    private static LaunchStep plain(ScaledMatMul op, Sizes sizes, Node node, GpuLoweringContext context) {
        boolean fours = sizes.inRuns(FOUR);
        boolean one = sizes.rows == 1;
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.SCALED_MATMUL,
                        one ? "scaled_matmul_row" : "scaled_matmul",
                        KernelVariant.of(node.output().dtype()));
        LaunchShape shape = PackedMatMul.shape("scaled_mat_mul", sizes.rows, sizes.columns);
        PreparedLaunch call = operands(PreparedLaunch.of(kernel, shape), op, node, context)
                .addAll(sizes.rows, sizes.columns, sizes.depth, sizes.block, op.blocks(sizes.depth))
                .add(form(node.input(1).dtype()))
                .add(fours)
                .build();
        return LaunchStep.of(
                "scaled_matmul " + node.input(1).dtype() + ", " + (fours ? 4 : 1) + " elements a lane, "
                        + (one ? 1 : ROWS) + " rows of x at once",
                call);
    }

    private static PreparedLaunch.Builder operands(
            PreparedLaunch.Builder call, ScaledMatMul op, Node node, GpuLoweringContext context) {
        return call.value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(op.zeroPoint() ? context.slot(node.input(3)) : -1)
                .value(context.slot(node.output()));
    }

    private static boolean isSigned(DType q) {
        return q == DType.I8 || q == DType.I4;
    }

    private static int form(DType q) {
        return switch (q) {
            case I8 -> 0;
            case U8 -> 1;
            case I4 -> 2;
            default -> 3;
        };
    }
}
