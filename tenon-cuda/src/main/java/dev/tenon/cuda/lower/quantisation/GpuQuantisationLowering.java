package dev.tenon.cuda.lower.quantisation;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.StateCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Quantisation by given scales, its inverse, and quantisation by a tensor's own range. Thread-safe. */
public final class GpuQuantisationLowering {
    /** Neighbours that a thread works on. */
    private static final int EACH = 8;

    /** Elements up to which one block looks for the range and quantises. */
    private static final long SMALL = 8192;

    private static final int RANGE_BLOCKS_EACH = 4;
    private static final int FLOAT_PAIR = 8;

    private GpuQuantisationLowering() {}

    /** How scales lie over a tensor: the numbers of quantisation.cuh. */
    private static int mode(Shape scale, long block) {
        return scale.elements() == 1 ? 0 : block > 0 ? 2 : 1;
    }

    /** {@code [size, inner, block]} of an axis; of no axis where the tensor has none. */
    private static long[] along(Shape x, int axis, long block) {
        return x.rank() == 0
                ? new long[] {1, 1, 1}
                : new long[] {x.size(Math.min(axis, x.rank() - 1)), x.elements(axis + 1, x.rank()), Math.max(1, block)};
    }

    /** One launch, 8 elements a thread. */
    public static GpuStep lower(Quantize op, Node node, GpuLoweringContext context) {
        Shape x = node.output().shape();
        if (x.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        DType scale = node.input(1).dtype();
        Kernel kernel = context.kernels().kernel(StateCatalog.QUANTIZE, "quantize", KernelVariant.of(scale));
        PreparedLaunch call = PreparedLaunch.of(kernel, Grids.of(Math.ceilDiv(x.elements(), (long) EACH)))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(op.zeroPoint() ? context.slot(node.input(2)) : -1)
                .value(context.slot(node.output()))
                .add(node.input(0).dtype() == DType.I32 ? 1 : 0)
                .add(TypeCodes.of(op.to()))
                .add(x.elements())
                .add(mode(node.input(1).shape(), op.block()))
                .add(op.zeroPoint() ? mode(node.input(2).shape(), op.block()) : 0)
                .addAll(along(x, axis(op.axis(), x), op.block()))
                .build();
        return LaunchStep.of("quantize, " + EACH + " elements a thread", call);
    }

    /** One launch, 8 elements a thread. */
    public static GpuStep lower(Dequantize op, Node node, GpuLoweringContext context) {
        Shape x = node.output().shape();
        if (x.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.QUANTIZE,
                        "dequantize",
                        KernelVariant.of(node.output().dtype()));
        PreparedLaunch call = PreparedLaunch.of(kernel, Grids.of(Math.ceilDiv(x.elements(), (long) EACH)))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(op.zeroPoint() ? context.slot(node.input(2)) : -1)
                .value(context.slot(node.output()))
                .add(TypeCodes.of(node.input(0).dtype()))
                .add(x.elements())
                .add(mode(node.input(1).shape(), op.block()))
                .add(op.zeroPoint() ? mode(node.input(2).shape(), op.block()) : 0)
                .addAll(along(x, axis(op.axis(), x), op.block()))
                .build();
        return LaunchStep.of("dequantize, " + EACH + " elements a thread", call);
    }

    /** An axis that means something only where scales lie along it. */
    private static int axis(int axis, Shape x) {
        return Math.clamp(axis, 0, Math.max(0, x.rank() - 1));
    }

    /** The range and the numbers: two launches, or one block for few elements. */
    public static GpuStep lower(DynamicQuantize op, Node node, GpuLoweringContext context) {
        long elements = node.input(0).shape().elements();
        KernelVariant variant = KernelVariant.of(DType.F32);
        long packs = Math.max(1, Math.ceilDiv(elements, (long) EACH));
        int parts = 0;
        if (elements > SMALL) {
            int most = RANGE_BLOCKS_EACH * context.kernels().context().device().multiprocessors();
            parts = Math.min(most, Grids.of(packs).gridX());
        }
        Kernel kernel = context.kernels().kernel(StateCatalog.DYNAMIC_QUANTIZE, "dynamic_quantize", variant);
        LaunchShape shape = Grids.of(parts == 0 ? 1 : packs);
        PreparedLaunch second = PreparedLaunch.of(kernel, shape)
                .value(context.slot(node.input(0)))
                .value(context.slot(node.outputs().get(0)))
                .value(context.slot(node.outputs().get(1)))
                .value(context.slot(node.outputs().get(2)))
                .workspace(0)
                .add(parts)
                .add(elements)
                .build();
        if (parts == 0) {
            return LaunchStep.of("dynamic_quantize, one block", second);
        }
        Kernel range = context.kernels().kernel(StateCatalog.DYNAMIC_QUANTIZE, "dynamic_quantize_range", variant);
        PreparedLaunch first = PreparedLaunch.of(range, LaunchShape.of(parts, shape.blockX()))
                .value(context.slot(node.input(0)))
                .workspace(0)
                .add(elements)
                .build();
        return LaunchStep.of(
                "dynamic_quantize, range in " + parts + " parts", List.of(first, second), (long) parts * FLOAT_PAIR);
    }
}
