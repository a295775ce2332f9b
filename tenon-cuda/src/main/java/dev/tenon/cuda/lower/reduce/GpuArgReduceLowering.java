package dev.tenon.cuda.lower.reduce;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.KernelFiles;
import dev.tenon.cuda.kernel.KernelVariant;
import dev.tenon.cuda.lower.sorting.SortOrder;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** Places of extremes: one launch, or two where results are few and their lanes long. */
public final class GpuArgReduceLowering {
    private static final int THREADS = 256;
    private static final int WARP = 32;
    private static final int STATE_BYTES = 16;
    private static final long LONG_LANE = 1024;

    /** Elements that a thread looks at before another part is worth a second launch. */
    private static final long ENOUGH_A_THREAD = 64;

    private static final int WAVES = 4;

    private GpuArgReduceLowering() {}

    public static GpuStep lower(ArgReduce op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        long results = node.output().shape().elements();
        if (results == 0) {
            return new NoWork(op.mnemonic());
        }
        long n = x.size(op.axis());
        long inner = x.elements(op.axis() + 1, x.rank());
        boolean along = inner == 1;
        int lanes =
                along && n >= LONG_LANE ? THREADS : Math.clamp(Long.highestOneBit(n), 1, along ? WARP : THREADS / WARP);
        int across = along ? THREADS / lanes : WARP;
        long groups = Math.ceilDiv(results, (long) across);
        long wanted = (long) WAVES * context.kernels().context().device().multiprocessors();
        long parts = Math.clamp(Math.min(wanted / groups, n / (lanes * ENOUGH_A_THREAD)), 1, GridLimits.YZ);
        LaunchShape shape = new LaunchShape(
                (int) Math.min(groups, Integer.MAX_VALUE),
                (int) parts,
                1,
                along ? lanes : across,
                along ? across : lanes,
                1,
                lanes * across * STATE_BYTES,
                false,
                1,
                false);
        KernelVariant variant = KernelFiles.width(node.input(0).dtype().bytes());
        SortOrder order = SortOrder.of(node.input(0).dtype());
        Kernel kernel = context.kernels().kernel(IndexingCatalog.ARG_REDUCE, "arg_reduce", variant);
        int input = context.slot(node.input(0));
        int output = context.slot(node.output());
        int last = op.last() ? 1 : 0;
        List<LaunchStep.Work> works = new ArrayList<>();
        works.add(LaunchStep.launch(
                kernel,
                shape,
                (arguments, frame) -> arguments
                        .add(frame.at(input))
                        .add(frame.at(output))
                        .add(frame.workspace())
                        .add(order.kind())
                        .add(order.largest())
                        .add(op.max() ? 1 : 0)
                        .add(last)
                        .add(results)
                        .add(n)
                        .add(inner)
                        .add(parts)
                        .add(along ? 1 : 0)));
        if (parts > 1) {
            Kernel joining = context.kernels().kernel(IndexingCatalog.ARG_REDUCE, "arg_reduce_parts", variant);
            works.add(join(joining, output, last, results, parts));
        }
        String tier = "arg_reduce, " + lanes + (along ? " lanes along" : " lanes, columns")
                + (parts > 1 ? ", " + parts + " parts" : "");
        long workspace = parts > 1 ? SizeMath.product("arg_reduce", results, parts, STATE_BYTES) : 0;
        return LaunchStep.of(tier, works, workspace);
    }

    private static LaunchStep.Work join(Kernel kernel, int output, int last, long results, long parts) {
        LaunchShape shape =
                LaunchShape.of((int) Math.min(results, Integer.MAX_VALUE), WARP).withSharedBytes(WARP * STATE_BYTES);
        return LaunchStep.launch(
                kernel,
                shape,
                (arguments, frame) -> arguments
                        .add(frame.workspace())
                        .add(frame.at(output))
                        .add(last)
                        .add(results)
                        .add(parts));
    }
}
