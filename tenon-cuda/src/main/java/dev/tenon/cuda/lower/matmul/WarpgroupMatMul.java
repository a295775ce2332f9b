package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A product by a kernel of warpgroups, with its activation where there is one. Thread-safe. */
final class WarpgroupMatMul implements GpuStep {
    static final int MAP_ALIGNMENT = 128;

    /** Rows of a box of the left operand. */
    static final int TILE = 128;

    /** Elements of a box's row. */
    static final int HALF = 64;

    private final String tier;
    private final List<String> passedOver;
    private final Kernel kernel;
    private final LaunchShape launch;
    private final GpuContext device;
    private final DType dtype;
    private final MatMulShape shape;
    private final @Nullable Unary function;
    private final int detail;
    private final Slots slots;
    /** Of the last addresses: those of a session stay as they are. */
    private volatile @Nullable Maps last;

    private record Maps(long a, long b, MemorySegment left, MemorySegment right) {}

    WarpgroupMatMul(
            MatMulChoice choice,
            Epilogue epilogue,
            DType dtype,
            MatMulShape shape,
            WarpgroupPlan plan,
            Slots slots,
            GpuLoweringContext context) {
        this.tier = choice.text(dtype, epilogue, plan.text());
        this.passedOver = choice.passedOver();
        this.device = context.kernels().context();
        this.dtype = dtype;
        this.shape = shape;
        this.function = epilogue.activation();
        this.detail = plan.detail();
        this.slots = slots;
        this.launch = LaunchShape.of(plan.blocks(), plan.threads())
                .withSharedBytes(plan.sharedBytes())
                .withProgrammatic();
        this.kernel = context.kernels()
                .kernel(
                        plan.file(),
                        plan.kernel(),
                        plan.variant(dtype, function == null ? null : function.fn(), shape.transposeB()),
                        plan.sharedBytes());
    }

    @Override
    public void enqueue(GpuFrame frame) {
        Maps maps = maps(frame.at(slots.a()), frame.at(slots.b()));
        frame.stream()
                .launch(
                        kernel.function(),
                        launch,
                        frame.arguments()
                                .clear()
                                .add(maps.left, MAP_ALIGNMENT)
                                .add(maps.right, MAP_ALIGNMENT)
                                .add(Slots.at(frame, slots.bias()))
                                .add(frame.at(slots.y()))
                                .add(shape.m())
                                .add(shape.n())
                                .add(detail)
                                .add(function == null ? 0.0f : (float) function.alpha())
                                .add(function == null ? 0.0f : (float) function.beta()));
    }

    private Maps maps(long a, long b) {
        Maps found = last;
        if (found == null || found.a != a || found.b != b) {
            TensorMap right = shape.transposeB()
                    ? map(dtype, b, shape.k(), shape.n(), TILE)
                    : map(dtype, b, shape.n(), shape.k(), HALF);
            found = new Maps(a, b, device.encode(map(dtype, a, shape.k(), shape.m(), TILE)), device.encode(right));
            last = found;
        }
        return found;
    }

    /** A dense matrix in boxes of {@code height} rows of 64 elements. */
    static TensorMap map(DType dtype, long address, long columns, long rows, int height) {
        return new TensorMap(
                dtype == DType.F16 ? TensorMap.Element.F16 : TensorMap.Element.BF16,
                address,
                List.of(columns, rows),
                List.of(dtype.bytesFor(columns)),
                List.of(HALF, height),
                TensorMap.Swizzle.BYTES_128);
    }

    @Override
    public String tier() {
        return tier;
    }

    @Override
    public List<String> passedOver() {
        return passedOver;
    }
}
