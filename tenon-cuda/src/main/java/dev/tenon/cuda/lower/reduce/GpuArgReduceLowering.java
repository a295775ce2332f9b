package dev.tenon.cuda.lower.reduce;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.lower.sorting.SortOrder;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Places of extremes: one launch, or two where results are few and their lanes long. */
public final class GpuArgReduceLowering {
    private static final int THREADS = 256;
    private static final int WARP = 32;
    private static final int STATE_BYTES = 16;
    private static final long LONG_LANE = 1024;

    /** Elements that a thread looks at before another part is worth a second launch. */
    private static final long ENOUGH_A_THREAD = 64;

    /** The same where accesses are of 16 bytes. */
    private static final long ENOUGH_ACCESSES = 8;

    /** Elements of a row that indices of 32 bits number. */
    private static final long MOST_NUMBERED = (1L << 32) - 1;

    private static final int ACCESS_BYTES = 16;
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
        Lanes lanes = new Lanes(op, node, context, results, n);
        return inner == 1 && n < MOST_NUMBERED ? rows(lanes) : walked(lanes, inner);
    }

    /** What both forms need. */
    private record Lanes(ArgReduce op, Node node, GpuLoweringContext context, long results, long n) {
        Kernel kernel(String entry) {
            int bytes = node.input(0).dtype().bytes();
            return context.kernels().kernel(IndexingCatalog.ARG_REDUCE, entry, KernelFiles.width(bytes));
        }

        /** Parts of each row: as many as fill the device, of at least so many accesses a thread. */
        long parts(long groups, long accesses, int lanes) {
            long wanted = (long) WAVES * context.kernels().context().device().multiprocessors();
            return Math.clamp(Math.min(wanted / groups, accesses / (lanes * ENOUGH_A_THREAD)), 1, GridLimits.YZ);
        }

        KernelArguments how(KernelArguments arguments, GpuFrame frame) {
            SortOrder order = SortOrder.of(node.input(0).dtype());
            return arguments
                    .add(frame.at(context.slot(node.input(0))))
                    .add(frame.at(context.slot(node.output())))
                    .add(frame.workspace())
                    .add(order.kind())
                    .add(order.largest())
                    .add(op.max() ? 1 : 0)
                    .add(op.last() ? 1 : 0)
                    .add(results)
                    .add(n);
        }

        GpuStep step(String tier, LaunchStep.Work first, long parts) {
            if (parts == 1) {
                return LaunchStep.of(tier, first);
            }
            LaunchStep.Work second =
                    join(kernel("arg_reduce_parts"), context.slot(node.output()), op.last() ? 1 : 0, results, parts);
            return LaunchStep.of(
                    tier + ", " + parts + " parts",
                    List.of(first, second),
                    SizeMath.product("arg_reduce", results, parts, STATE_BYTES));
        }
    }

    private static GpuStep rows(Lanes lanes) {
        int pack = ACCESS_BYTES / lanes.node().input(0).dtype().bytes();
        boolean packed = lanes.n() % pack == 0;
        long accesses = packed ? lanes.n() / pack : lanes.n();
        int threads = accesses > LONG_LANE ? THREADS : Math.clamp(Long.highestOneBit(accesses), 1, WARP);
        long groups = Math.ceilDiv(lanes.results(), (long) (THREADS / threads));
        long parts = lanes.parts(groups, accesses * ENOUGH_A_THREAD / ENOUGH_ACCESSES, threads);
        LaunchShape shape = LaunchShape.of((int) Math.min(groups, Integer.MAX_VALUE), (int) parts, 1, THREADS);
        String tier = "arg_reduce_rows, " + threads + (threads == 1 ? " thread a row, " : " threads a row, ")
                + (packed ? "16 bytes an access" : "an element an access");
        LaunchStep.Work work = LaunchStep.launch(
                lanes.kernel("arg_reduce_rows"),
                shape,
                (arguments, frame) ->
                        lanes.how(arguments, frame).add(parts).add(threads).add(packed ? 1 : 0));
        return lanes.step(tier, work, parts);
    }

    private static GpuStep walked(Lanes all, long inner) {
        boolean along = inner == 1;
        long n = all.n();
        int lanes =
                along && n >= LONG_LANE ? THREADS : Math.clamp(Long.highestOneBit(n), 1, along ? WARP : THREADS / WARP);
        int across = along ? THREADS / lanes : WARP;
        long groups = Math.ceilDiv(all.results(), (long) across);
        long parts = all.parts(groups, n, lanes);
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
        LaunchStep.Work work = LaunchStep.launch(
                all.kernel("arg_reduce"),
                shape,
                (arguments, frame) ->
                        all.how(arguments, frame).add(inner).add(parts).add(along ? 1 : 0));
        return all.step("arg_reduce, " + lanes + (along ? " lanes along" : " lanes, columns"), work, parts);
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
