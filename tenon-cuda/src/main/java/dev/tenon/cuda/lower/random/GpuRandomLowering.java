package dev.tenon.cuda.lower.random;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.RandomFn;
import dev.tenon.core.ir.op.random.Sample;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.StateCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Random numbers, and tokens drawn from logits. Thread-safe. */
public final class GpuRandomLowering {
    /** Elements of a counter. */
    private static final int EACH = 4;

    private static final int LEAST_THREADS = 64;
    private static final int MOST_THREADS = 1024;
    private static final int LOGITS_EACH = 8;
    private static final int SAMPLE_INPUTS = 7;

    private GpuRandomLowering() {}

    /** One launch, a counter a thread. */
    public static GpuStep lower(Random op, Node node, GpuLoweringContext context) {
        long elements = node.output().shape().elements();
        if (elements == 0) {
            return new NoWork(op.mnemonic());
        }
        Kernel kernel = context.kernels().kernel(StateCatalog.RANDOM, "random", KernelVariant.of(op.dtype()));
        PreparedLaunch call = PreparedLaunch.of(kernel, Grids.of(Math.ceilDiv(elements, (long) EACH)))
                .value(op.step() ? context.slot(node.input(0)) : -1)
                .value(context.slot(node.output()))
                .add(op.fn() == RandomFn.NORMAL ? 1 : 0)
                .addAll(elements, op.seed(), Double.doubleToRawLongBits(op.a()), Double.doubleToRawLongBits(op.b()))
                .build();
        return LaunchStep.of("random, philox, 4 elements a thread", call);
    }

    /** One launch, a block a row. */
    public static GpuStep lower(Sample op, Node node, GpuLoweringContext context) {
        Shape logits = node.input(0).shape();
        long rows = logits.size(0);
        long size = logits.size(1);
        if (rows == 0) {
            return new NoWork(op.mnemonic());
        }
        DType dtype = node.input(0).dtype();
        long wanted = Math.clamp(size / LOGITS_EACH, LEAST_THREADS, MOST_THREADS);
        LaunchShape shape = LaunchShape.of(
                (int) Math.min(rows, 2L * context.kernels().context().device().multiprocessors()),
                Integer.highestOneBit((int) wanted));
        Kernel kernel = context.kernels().kernel(StateCatalog.SAMPLE, "sample", KernelVariant.of(dtype));
        PreparedLaunch.Builder call = PreparedLaunch.of(kernel, shape);
        for (int i = 0; i < SAMPLE_INPUTS; i++) {
            call.value(context.slot(node.input(i)));
        }
        call.value(context.slot(node.output())).workspace(0).addAll(rows, size).faults(context);
        return new LaunchStep(
                "sample, a block of " + shape.blockX() + " threads a row",
                List.of(call.build()),
                SizeMath.product(
                        "sample", shape.gridX(), size, dtype.accumulator().bytes()),
                0,
                GpuRandomLowering::fault);
    }

    private static String fault(long value) {
        return value < 0
                ? "temperature, top k and top p need to be 0 or more, and min p from 0 to 1"
                : "logit " + value + ", counted over all rows, is NaN";
    }
}
