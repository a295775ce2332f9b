package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.StateCatalog;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Products of bytes less their zero points. */
public final class IntegerMatMul {
    private static final int TILE = 64;
    private static final int THREADS = 256;
    private static final int BATCH_DIMS = 3;

    /** Depth of a part is a multiple of what a tile takes at once. */
    private static final long STEP = 32;

    private static final long LEAST_PART = 512;

    private IntegerMatMul() {}

    /** Tiles of 64 by 64, the depth in parts where there are few tiles. */
    public static Lowered lower(MatMulInteger op, Node node, GpuLoweringContext context) {
        long elements = node.output().shape().elements();
        if (elements == 0) {
            return new NoWork(op.mnemonic());
        }
        MatMulShape shape = MatMulShape.of(node.input(0).shape(), node.input(1).shape(), false, false);
        if (shape.batch().size() > BATCH_DIMS) {
            return new NoKernel("matmul_integer takes a batch of at most " + BATCH_DIMS
                    + " dims that do not collapse, not " + shape.batch().size());
        }
        long columns = Math.ceilDiv(shape.n(), (long) TILE);
        long bands = SizeMath.product("matmul_integer", Math.ceilDiv(shape.m(), (long) TILE), shape.matrices());
        long wanted = 2L * context.kernels().context().device().multiprocessors();
        long parts = Math.clamp(Math.min(wanted / (columns * bands), shape.k() / LEAST_PART), 1, GridLimits.YZ);
        long depth = Math.max(STEP, Math.ceilDiv(Math.ceilDiv(shape.k(), parts), STEP) * STEP);
        parts = Math.max(1, Math.ceilDiv(shape.k(), depth));
        LaunchShape grid = LaunchShape.of(
                SizeMath.toInt("matmul_integer", columns), (int) Math.min(bands, GridLimits.YZ), (int) parts, THREADS);
        PreparedLaunch product = call(op, node, context, shape, grid, depth);
        String tier = "matmul_integer, dot products of 4 bytes, tiles of 64x64";
        if (parts == 1) {
            return LaunchStep.of(tier, product);
        }
        Kernel zero = context.kernels().kernel(StateCatalog.MATMUL_INTEGER, "matmul_integer_zero", StateCatalog.PLAIN);
        PreparedLaunch first = PreparedLaunch.of(zero, Grids.of(elements))
                .value(context.slot(node.output()))
                .add(elements)
                .build();
        return LaunchStep.of(tier + ", depth in " + parts + " parts", List.of(first, product), 0);
    }

    private static PreparedLaunch call(
            MatMulInteger op, Node node, GpuLoweringContext context, MatMulShape shape, LaunchShape grid, long depth) {
        Kernel kernel = context.kernels().kernel(StateCatalog.MATMUL_INTEGER, "matmul_integer", StateCatalog.PLAIN);
        int last = node.inputs().size() - 1;
        long rows = node.input(0).shape().size(node.input(0).shape().rank() - 2);
        long zeroRows = op.zeroPointA() ? node.input(2).shape().elements() : 1;
        long zeroColumns = op.zeroPointB() ? node.input(last).shape().elements() : 1;
        if (zeroRows > 1 && zeroRows != rows) {
            throw new IllegalStateException(node + " has " + zeroRows + " zero points for " + rows + " rows");
        }
        return PreparedLaunch.of(kernel, grid)
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(op.zeroPointA() ? context.slot(node.input(2)) : -1)
                .value(op.zeroPointB() ? context.slot(node.input(last)) : -1)
                .value(context.slot(node.output()))
                .add(node.input(0).dtype() == DType.I8 ? 1 : 0)
                .add(node.input(1).dtype() == DType.I8 ? 1 : 0)
                .addAll(zeroRows, zeroColumns, shape.m(), shape.n(), shape.k(), depth, shape.matrices())
                .addAll(dim(shape.batch(), 1, 1), dim(shape.batch(), 2, 1))
                .addAll(dim(shape.stridesA(), 0, 0), dim(shape.stridesA(), 1, 0), dim(shape.stridesA(), 2, 0))
                .addAll(dim(shape.stridesB(), 0, 0), dim(shape.stridesB(), 1, 0), dim(shape.stridesB(), 2, 0))
                .build();
    }

    /** The entry of one of three dims, the last being the list's last; {@code none} before its first. */
    private static long dim(List<Long> values, int dim, long none) {
        int at = values.size() - BATCH_DIMS + dim;
        return at < 0 ? none : values.get(at);
    }
}
