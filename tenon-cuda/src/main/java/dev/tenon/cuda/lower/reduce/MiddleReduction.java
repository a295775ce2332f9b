package dev.tenon.cuda.lower.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sums, means, maxima and minima of a middle dim whose results are few: of images, their positions. */
final class MiddleReduction {
    private static final int THREADS = 256;
    private static final int CHUNK_BYTES = 16;
    /** Results that fill a device by a thread each, more or less; from there on the other kernel has work enough. */
    private static final long MOST_RESULTS = 1 << 20;

    private static final long MOST_COUNT = 1 << 16;
    /** Lanes side by side: 128 bytes. */
    private static final int LANES = 8;

    private static final List<ReduceFn> FUNCTIONS = List.of(ReduceFn.SUM, ReduceFn.MEAN, ReduceFn.MAX, ReduceFn.MIN);

    private MiddleReduction() {}

    /** The step; null where the kernel does not take the reduction. */
    static @Nullable GpuStep step(Reduce op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        DType dtype = node.input(0).dtype();
        int first = op.axes().stream().mapToInt(axis -> axis).min().orElse(0);
        int end = op.axes().stream().mapToInt(axis -> axis + 1).max().orElse(0);
        boolean together = op.axes().size() == end - first && end < x.rank();
        boolean floats = dtype == DType.F32 || dtype == DType.F16 || dtype == DType.BF16;
        if (!together || !floats || !FUNCTIONS.contains(op.fn())) {
            return null;
        }
        long outer = x.elements(0, first);
        long count = x.elements(first, end);
        long inner = x.elements(end, x.rank());
        long bytes = dtype.bytesFor(inner);
        if (count < 2
                || count > MOST_COUNT
                || bytes % CHUNK_BYTES != 0
                || node.output().shape().elements() > MOST_RESULTS) {
            return null;
        }
        long packs = bytes / CHUNK_BYTES;
        int lanes = packs >= LANES ? LANES : Integer.highestOneBit((int) packs);
        long parts = Math.min(Math.ceilDiv(packs, (long) lanes), GridLimits.YZ);
        PreparedLaunch launch = PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.REDUCE_MIDDLE, "reduce_middle", KernelVariant.of(dtype)),
                        LaunchShape.of((int) outer, (int) parts, 1, THREADS).withProgrammatic())
                .value(context.slot(node.input(0)))
                .value(context.slot(node.output()))
                .addAll(outer, count, packs)
                .add(lanes)
                .add(FUNCTIONS.indexOf(op.fn()))
                .build();
        return LaunchStep.of("reduce_middle, " + THREADS / lanes + " lines", launch);
    }
}
