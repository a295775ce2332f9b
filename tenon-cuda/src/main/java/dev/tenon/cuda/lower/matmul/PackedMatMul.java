package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.StateCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** Weights packed in blocks: products with them, and their elements written out. Thread-safe. */
public final class PackedMatMul {
    private static final int THREADS = 256;

    /** Rows of the weight that a block takes, four a warp; rows of x that are multiplied at once. */
    private static final long COLUMNS = 32;

    private static final long ROWS = 8;
    private static final long FOUR = 4;

    private PackedMatMul() {}

    /**
     * One launch: for one row of x a kernel that streams, for more than eight tiles on tensor cores, else four rows of
     * the weight a warp.
     */
    public static GpuStep lower(DequantMatMul op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        DType dtype = node.output().dtype();
        long rows = x.elements(0, x.rank() - 1);
        long columns = node.input(1).shape().size(0);
        long depth = x.size(x.rank() - 1);
        DeviceProperties device = context.kernels().context().device();
        List<String> refusals = new ArrayList<>();
        if (rows == 1) {
            PackedMmaGemv mma = PackedMmaGemv.of(op.format(), dtype, columns, depth, device);
            if (mma.refusal().isEmpty()) {
                return gemv(op, mma, node, context);
            }
            refusals.add(mma.refusal());
            PackedGemv gemv = PackedGemv.of(op.format(), dtype, columns, depth, device);
            if (gemv.refusal().isEmpty()) {
                return gemv(op, gemv, node, context).passing(refusals);
            }
            refusals.add(gemv.refusal());
        } else {
            String refusal = tiledRefusal(op.format(), rows, depth, dtype, device);
            if (refusal.isEmpty()) {
                return tiled(op, rows, node, context);
            }
            refusals.add(refusal);
            refusals.add("dequant_gemv: " + rows + " rows of x; it takes one");
        }
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.DEQUANT_MATMUL,
                        rows == 1 ? "dequant_matmul_row" : "dequant_matmul",
                        StateCatalog.packed(op.format(), dtype));
        PreparedLaunch call = PreparedLaunch.of(kernel, shape("dequant_matmul", rows, columns))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.output()))
                .addAll(rows, columns, depth)
                .build();
        return LaunchStep.of(
                        "dequant_matmul " + op.format() + ", " + (rows == 1 ? 1 : ROWS) + " rows of x at once", call)
                .passing(refusals);
    }

    /** Why the form on tensor cores does not take a product; empty where it does. */
    private static String tiledRefusal(
            BlockFormat format, long rows, long depth, DType dtype, DeviceProperties device) {
        if (rows <= ROWS) {
            return "dequant_matmul_mma: " + rows + " rows of x; it pays from " + (ROWS + 1) + " on";
        }
        if (dtype != DType.F16 && dtype != DType.BF16) {
            return "dequant_matmul_mma: x of " + dtype + "; it takes f16 and bf16";
        }
        String refusal = PackedTile.of(format).refusal(depth, device);
        return refusal.isEmpty() ? "" : "dequant_matmul_mma: " + refusal;
    }

    private static LaunchStep tiled(DequantMatMul op, long rows, Node node, GpuLoweringContext context) {
        PackedTile tile = PackedTile.of(op.format());
        LaunchShape shape =
                tile.shape("dequant_matmul", rows, node.input(1).shape().size(0));
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.DEQUANT_MATMUL_MMA,
                        "dequant_matmul_mma",
                        StateCatalog.packed(op.format(), node.output().dtype()),
                        shape.sharedBytes());
        Shape x = node.input(0).shape();
        PreparedLaunch call = PreparedLaunch.of(kernel, shape)
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.output()))
                .addAll(rows, node.input(1).shape().size(0), x.size(x.rank() - 1))
                .build();
        return LaunchStep.of("dequant_matmul_mma " + op.format() + ", " + tile.tier(), call);
    }

    private static LaunchStep gemv(DequantMatMul op, PackedMmaGemv gemv, Node node, GpuLoweringContext context) {
        PreparedLaunch call = row(StateCatalog.DEQUANT_GEMV_MMA, "dequant_gemv_mma", gemv.shape(), op, node, context)
                .add(gemv.share())
                .add(node.input(1).constant() != null)
                .build();
        return LaunchStep.of("dequant_gemv_mma " + op.format() + ", 16 rows a warp", call);
    }

    private static LaunchStep gemv(DequantMatMul op, PackedGemv gemv, Node node, GpuLoweringContext context) {
        PreparedLaunch call = row(StateCatalog.DEQUANT_GEMV, "dequant_gemv", gemv.shape(), op, node, context)
                .add(gemv.slices())
                .add(gemv.rows())
                .add(node.input(1).constant() != null)
                .build();
        return LaunchStep.of("dequant_gemv " + op.format() + ", " + gemv.slices() + " slices a row", call);
    }

    /** The launch of a kernel for one row, with what both kernels take first. */
    private static PreparedLaunch.Builder row(
            KernelFile file, String entry, LaunchShape shape, DequantMatMul op, Node node, GpuLoweringContext context) {
        Kernel kernel = context.kernels()
                .kernel(
                        file,
                        entry,
                        StateCatalog.packed(op.format(), node.output().dtype()),
                        shape.sharedBytes());
        Shape x = node.input(0).shape();
        return PreparedLaunch.of(kernel, shape)
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.output()))
                .addAll(node.input(1).shape().size(0), x.size(x.rank() - 1));
    }

    /** Of the kernels on plain cores, four rows of the weight a warp. */
    static LaunchShape shape(String op, long rows, long columns) {
        return LaunchShape.of(
                SizeMath.toInt(op, Math.ceilDiv(columns, COLUMNS)),
                (int) Math.min(rows == 1 ? 1 : Math.ceilDiv(rows, ROWS), GridLimits.YZ),
                1,
                THREADS);
    }

    /** One launch, four elements a thread. */
    public static GpuStep lower(DecodeBlocks op, Node node, GpuLoweringContext context) {
        long elements = node.output().shape().elements();
        if (elements == 0) {
            return new NoWork(op.mnemonic());
        }
        Kernel kernel = context.kernels()
                .kernel(StateCatalog.DEQUANT_MATMUL, "decode_blocks", StateCatalog.packed(op.format(), op.dtype()));
        PreparedLaunch call = PreparedLaunch.of(kernel, Grids.of(elements / FOUR))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.output()))
                .add(elements / FOUR)
                .build();
        return LaunchStep.of("decode_blocks " + op.format() + ", 4 elements a thread", call);
    }
}
