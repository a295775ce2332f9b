package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A product and the norm of its rows in one launch. Thread-safe. */
final class WarpgroupNorm implements GpuStep {
    private final NormPlan plan;
    private final Kernel kernel;
    private final GpuContext device;
    private final DType dtype;
    private final MatMulShape shape;
    private final float epsilon;
    private final Slots slots;
    private final int scale;
    private final int shift;
    private final String tier;
    private final LaunchShape launch;
    /** Of the last addresses: those of a session stay as they are. */
    private volatile @Nullable Maps last;

    private record Maps(long a, long b, long residual, MemorySegment left, MemorySegment right, MemorySegment added) {}

    WarpgroupNorm(NormedMatMul op, Node node, MatMulShape shape, NormPlan plan, GpuLoweringContext context) {
        Epilogue epilogue = op.product().epilogue();
        this.plan = plan;
        this.device = context.kernels().context();
        this.dtype = node.output().dtype();
        this.shape = shape;
        this.epsilon = (float) op.epsilon();
        this.slots = new Slots(
                context.slot(node.input(0)),
                op.product().transposeB() ? context.slot(node.input(1)) : context.transposedSlot(node.input(1)),
                epilogue.bias() ? context.slot(node.input(2)) : -1,
                epilogue.residual() ? context.slot(node.input(op.products() - 1)) : -1,
                context.slot(node.output()));
        this.scale = context.slot(node.input(op.products()));
        this.shift = op.centred() ? context.slot(node.inputs().getLast()) : -1;
        this.kernel = context.kernels()
                .kernel(
                        ProductCatalog.MATMUL_NORM,
                        "matmul_norm",
                        plan.variant(dtype, op.centred()),
                        plan.sharedBytes());
        this.launch = plan.shape();
        this.tier = plan.text() + ", " + (dtype == DType.F32 ? "TF32" : dtype) + (epilogue.bias() ? ", bias" : "")
                + (epilogue.residual() ? ", residual" : "") + (op.centred() ? ", layer_norm" : ", rms_norm");
    }

    @Override
    public void enqueue(GpuFrame frame) {
        Maps maps = maps(frame.at(slots.a()), frame.at(slots.b()), Slots.at(frame, slots.residual()));
        frame.stream()
                .launch(
                        kernel.function(),
                        launch,
                        frame.arguments()
                                .clear()
                                .add(maps.left, TensorMap.ALIGNMENT)
                                .add(maps.right, TensorMap.ALIGNMENT)
                                .add(maps.added, TensorMap.ALIGNMENT)
                                .add(Slots.at(frame, slots.bias()))
                                .add(frame.at(scale))
                                .add(Slots.at(frame, shift))
                                .add(frame.at(slots.y()))
                                .add(shape.m())
                                .add(shape.n())
                                .add(plan.steps())
                                .add(plan.blocks())
                                .add(slots.residual() < 0 ? 0 : 1)
                                .add(1.0f / plan.blocks())
                                .add(epsilon)
                                .add(frame.workspace())
                                .add(frame.counters()));
    }

    private Maps maps(long a, long b, long residual) {
        Maps found = last;
        if (found == null || found.a != a || found.b != b || found.residual != residual) {
            TensorMap.Element element = WarpgroupMatMul.element(dtype);
            TensorMap.Element exact = dtype == DType.F32 ? TensorMap.Element.F32 : element;
            MemorySegment left = map(element, a, shape.k(), shape.m(), WarpgroupPlan.BOX);
            MemorySegment right = map(element, b, shape.k(), shape.n(), WarpgroupMatMul.HALF);
            MemorySegment added = residual == 0 ? left : map(exact, residual, shape.n(), shape.m(), WarpgroupPlan.BOX);
            found = new Maps(a, b, residual, left, right, added);
            last = found;
        }
        return found;
    }

    private MemorySegment map(TensorMap.Element element, long address, long columns, long rows, int height) {
        return device.encode(WarpgroupMatMul.map(element, dtype, address, columns, rows, height));
    }

    @Override
    public long workspaceBytes() {
        return plan.workspaceBytes();
    }

    @Override
    public long counterBytes() {
        return plan.counterBytes();
    }

    @Override
    public String tier() {
        return tier;
    }
}
