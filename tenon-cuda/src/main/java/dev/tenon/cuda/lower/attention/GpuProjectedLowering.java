package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProjectedForm;
import dev.tenon.cuda.lower.attention.AttentionProblem.Formula;
import dev.tenon.cuda.lower.attention.AttentionProblem.Mask;
import dev.tenon.cuda.lower.attention.AttentionProblem.MaskStrides;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Micros;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Products with the attention of their heads: in one launch where a model of time finds that sooner. */
public final class GpuProjectedLowering {
    private static final String NAME = "matmul_attention";
    private static final int CAPABILITY = 90;
    private static final int PACK_BYTES = 16;

    /** Fewer rows keep few blocks busy, and may belong to a resident launch. */
    private static final long LEAST_ROWS = 1024;

    private GpuProjectedLowering() {}

    /** Whether a node of concrete types may be made in one launch, on a device that has the kernel. */
    public static boolean claims(ProjectedAttention op, Node node) {
        if (!node.output().shape().isConcrete()) {
            return false;
        }
        for (Value input : node.inputs()) {
            if (!input.shape().isConcrete()) {
                return false;
            }
        }
        return shape(op, node).m() >= LEAST_ROWS && misfit(op, node).isEmpty();
    }

    private static MatMulShape shape(ProjectedAttention op, Node node) {
        return MatMulShape.of(
                node.input(0).shape(),
                node.input(1).shape(),
                op.product().transposeA(),
                op.product().transposeB());
    }

    private static @Nullable Value mask(ProjectedAttention op, Node node) {
        return op.attention().mask() ? node.inputs().getLast() : null;
    }

    /** Why the kernel cannot make a node, whatever the device; empty where it can. */
    private static String misfit(ProjectedAttention op, Node node) {
        DType dtype = node.output().dtype();
        if (dtype != DType.F16 && dtype != DType.BF16) {
            return "it takes f16 and bf16, not " + dtype;
        }
        MatMulShape shape = shape(op, node);
        Epilogue epilogue = op.product().epilogue();
        if (!shape.batch().isEmpty() || shape.transposeA() || epilogue.activation() != null || epilogue.residual()) {
            return "it takes one matrix along k, no activation and no residual";
        }
        Shape y = node.output().shape();
        if (y.size(1) <= ProjectedForm.TOKENS / 2 || y.size(1) > ProjectedForm.TOKENS) {
            return y.size(1) + " tokens; it takes more than " + ProjectedForm.TOKENS / 2 + " and at most "
                    + ProjectedForm.TOKENS;
        }
        if (!ProjectedForm.SIZES.contains((int) Math.min(y.size(3), Integer.MAX_VALUE))) {
            return "heads of " + y.size(3) + " elements; it takes 32 and 64";
        }
        int pack = PACK_BYTES / dtype.bytes();
        if (shape.k() == 0 || shape.k() % pack != 0) {
            return "sums of " + shape.k() + " elements; it takes multiples of " + pack;
        }
        if (Math.max(shape.m(), Math.max(shape.n(), shape.k())) > Integer.MAX_VALUE / 2) {
            return "places are counted in 32 bits";
        }
        return MaskStrides.of(mask(op, node)).query() == 0 ? "" : "each query has its own mask";
    }

    /**
     * Why a product that fits is made apart; empty where it is not.
     *
     * @param specific whether code for the device's own form can be compiled
     */
    static String refusal(
            ProjectedPlan plan, MatMulShape shape, DeviceProperties device, boolean specific, ProductForm form) {
        if (form != ProductForm.BY_CHOICE && form != ProductForm.RING) {
            return "other products are asked for";
        }
        if (device.architecture().number() != CAPABILITY) {
            return "compute capability " + device.architecture() + " is not 9.0";
        }
        if (!specific) {
            return "no compiler for sm_90a";
        }
        if (!ProjectedPlan.fits(device)) {
            return "a block has too little shared memory";
        }
        double apart = ProjectedPlan.apart(plan.form(), shape, device);
        return form == ProductForm.RING || plan.microseconds() < apart
                ? ""
                : Micros.text(plan.microseconds()) + " us by the model, product and attention apart "
                        + Micros.text(apart);
    }

    /** Why a node is made part by part; empty where one launch makes it. */
    public static String refusal(ProjectedAttention op, Node node, GpuLoweringContext context) {
        String misfit = misfit(op, node);
        if (!misfit.isEmpty() || node.output().shape().elements() == 0) {
            return misfit;
        }
        if (!context.compilerRefused().isEmpty()) {
            return context.compilerRefused();
        }
        DeviceProperties device = context.kernels().context().device();
        return refusal(
                plan(form(op, node), op, node, device),
                shape(op, node),
                device,
                context.kernels().compilesSpecific(),
                context.products());
    }

    private static ProjectedForm form(ProjectedAttention op, Node node) {
        return new ProjectedForm(
                node.output().dtype(),
                SizeMath.toInt(NAME, node.output().shape().size(3)),
                op.product().transposeB());
    }

    private static ProjectedPlan plan(ProjectedForm form, ProjectedAttention op, Node node, DeviceProperties device) {
        Shape y = node.output().shape();
        return ProjectedPlan.of(form, shape(op, node), y.size(0), y.size(2), device);
    }

    /** The step of a node for which there is no {@link #refusal}. */
    public static GpuStep lower(ProjectedAttention op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        GpuContext device = context.kernels().context();
        ProjectedForm form = form(op, node);
        ProjectedPlan plan = plan(form, op, node, device.device());
        Kernel kernel = context.kernels().kernel(ProjectedForm.FILE, NAME, form.variant(), ProjectedForm.sharedBytes());
        LaunchShape launch = LaunchShape.of(plan.blocks(), ProjectedForm.THREADS)
                .withSharedBytes(ProjectedForm.sharedBytes())
                .withProgrammatic();
        MatMulShape shape = shape(op, node);
        boolean bias = op.product().epilogue().bias();
        Value mask = mask(op, node);
        MaskStrides strides = MaskStrides.of(mask);
        Formula formula = op.attention().guarded() ? Formula.GUARDED : Formula.PLAIN;
        PreparedLaunch work = PreparedLaunch.of(kernel, launch)
                .map(
                        context.slot(node.input(0)),
                        device,
                        at -> map(form, at, shape.k(), shape.m(), ProjectedForm.TOKENS))
                .map(
                        context.slot(node.input(1)),
                        device,
                        at -> form.alongB()
                                ? map(form, at, shape.k(), shape.n(), ProjectedForm.PART)
                                : map(form, at, shape.n(), shape.k(), ProjectedForm.PART))
                .value(bias ? context.slot(node.input(2)) : -1)
                .value(context.slot(node.output()))
                .value(mask == null ? -1 : context.slot(mask))
                .addAll(strides.batch(), strides.head(), strides.key())
                .add(SizeMath.toInt(NAME, y.size(0)))
                .add(SizeMath.toInt(NAME, y.size(1)))
                .add(SizeMath.toInt(NAME, y.size(2)))
                .add(plan.steps())
                .add((mask == null ? Mask.NONE : Mask.ADDED).code())
                .compute(DType.F32, op.attention().scale())
                .add(formula.code())
                .build();
        String tier = NAME + ", " + form.dtype() + ", heads of " + form.size() + (bias ? ", bias" : "")
                + (mask == null ? "" : ", mask");
        return LaunchStep.of(tier, work);
    }

    /** A dense matrix in boxes of so many rows of 128 bytes. */
    private static TensorMap map(ProjectedForm form, long address, long columns, long rows, int height) {
        DType dtype = form.dtype();
        return new TensorMap(
                dtype == DType.F16 ? TensorMap.Element.F16 : TensorMap.Element.BF16,
                address,
                List.of(columns, rows),
                List.of(dtype.bytesFor(columns)),
                List.of(ProjectedForm.LINE / dtype.bytes(), height),
                TensorMap.Swizzle.BYTES_128);
    }
}
