package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Products on tensor cores by {@code matmul_wmma}, their epilogue included. Thread-safe. */
final class TensorCoreMatMul {
    private static final int DIMS = MatMulKernels.BATCH_DIMS;
    private static final int CHUNK = 16;

    private TensorCoreMatMul() {}

    /**
     * How products of one type and shape are made.
     *
     * @param shape of one launch
     */
    record Tiling(DType dtype, MatMulShape shape, MmaPlan plan, KernelVariant variant, int shared) {}

    /**
     * The tiling of products that tensor cores take.
     *
     * @see MmaPlan#refusal
     */
    static Tiling tiling(DType dtype, MatMulShape whole, GpuLoweringContext context) {
        DeviceProperties device = context.kernels().context().device();
        MatMulShape shape = whole.inner(DIMS);
        MmaPlan plan = MmaPlan.of(dtype, shape, device, context.kernels().compilesSpecific(), context.tile());
        ProductCatalog.Tile tile = plan.tile();
        return new Tiling(
                dtype,
                shape,
                plan,
                tile.variant(dtype, !shape.transposeA(), shape.transposeB(), plan.packed()),
                tile.sharedBytes(device.architecture().number()));
    }

    /** @param text the tier in words */
    static GpuStep step(
            MatMulChoice choice,
            Tiling tiling,
            String text,
            Epilogue epilogue,
            MatMulShape whole,
            Slots slots,
            GpuLoweringContext context) {
        DType dtype = tiling.dtype;
        MatMulShape shape = tiling.shape;
        MmaPlan plan = tiling.plan;
        ProductCatalog.Tile tile = plan.tile();
        int shared = tiling.shared;
        Kernel kernel = context.kernels().kernel(ProductCatalog.MATMUL_WMMA, "matmul_wmma", tiling.variant, shared);
        long blocks = SizeMath.product("matmul", plan.tiles(), plan.splits());
        LaunchShape launch = LaunchShape.of((int) Math.min(blocks, Integer.MAX_VALUE), tile.threads())
                .withSharedBytes(shared)
                .withProgrammatic();
        List<PreparedLaunch> works = new ArrayList<>();
        for (MatMulShape.Start start : whole.starts(DIMS)) {
            PreparedLaunch.Builder work = PreparedLaunch.of(kernel, launch)
                    .value(slots.a(), dtype.bytesFor(start.a()))
                    .value(slots.b(), dtype.bytesFor(start.b()))
                    .value(slots.bias())
                    .value(slots.residual(), dtype.bytesFor(start.y()))
                    .value(slots.y(), dtype.bytesFor(start.y()))
                    .addAll(shape.m(), shape.n(), shape.k(), shape.matrices());
            addBatch(work, shape);
            addFunction(work, dtype, epilogue.activation());
            works.add(work.add(packed(dtype, shape))
                    .add(plan.splits())
                    .workspace(0)
                    .counters()
                    .build());
        }
        boolean shares = plan.splits() > 1;
        return new OwnMatMul(
                text,
                choice.passedOver(),
                works,
                shares ? SizeMath.product("matmul", blocks, (long) tile.rows() * tile.columns() * Float.BYTES) : 0,
                shares ? plan.tiles() * Integer.BYTES : 0);
    }

    /** The sizes of the batch but for the outermost, and the strides of both operands. */
    static void addBatch(PreparedLaunch.Builder work, MatMulShape shape) {
        addInner(work, shape.batch(), 1, DIMS - 1);
        addInner(work, shape.stridesA(), 0, DIMS);
        addInner(work, shape.stridesB(), 0, DIMS);
    }

    /** Which operands lie in whole chunks. */
    static int packed(DType dtype, MatMulShape shape) {
        return (MmaPlan.alongA(dtype, shape) ? 1 : 0)
                + (MmaPlan.alongB(dtype, shape) ? 2 : 0)
                + (shape.n() % (CHUNK / dtype.bytes()) == 0 ? 4 : 0);
    }

    /** An activation as kernels take it: its number, 0 for none, and its parameters in the type of sums. */
    static void addFunction(PreparedLaunch.Builder work, DType dtype, @Nullable Unary activation) {
        work.add(
                activation == null
                        ? ProductCatalog.NO_FUNCTION
                        : activation.fn().code());
        work.compute(dtype, activation == null ? 0 : activation.alpha());
        work.compute(dtype, activation == null ? 0 : activation.beta());
    }

    /** The last {@code count} of the values, with others before them where there are fewer. */
    private static void addInner(PreparedLaunch.Builder work, List<Long> values, long other, int count) {
        for (int i = values.size() - count; i < values.size(); i++) {
            work.add(i < 0 ? other : (long) values.get(i));
        }
    }
}
