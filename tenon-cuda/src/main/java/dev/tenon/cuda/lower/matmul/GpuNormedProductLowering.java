package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Micros;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;

/** Products whose rows are normed: in one launch by products of warpgroups where a model of time finds that sooner. */
public final class GpuNormedProductLowering {
    private static final int CAPABILITY = 90;
    private static final int PACK_BYTES = 16;

    /** Fewer rows keep few blocks busy, and may belong to a resident launch. */
    private static final long LEAST_ROWS = 1024;

    private GpuNormedProductLowering() {}

    /** Whether a node of concrete types may be made in one launch, on a device that has the kernel. */
    public static boolean claims(NormedMatMul op, Node node, Precision precision) {
        if (!node.output().shape().isConcrete()) {
            return false;
        }
        for (Value input : node.inputs()) {
            if (!input.shape().isConcrete()) {
                return false;
            }
        }
        return shape(op, node).m() >= LEAST_ROWS && misfit(op, node, precision).isEmpty();
    }

    private static MatMulShape shape(NormedMatMul op, Node node) {
        return MatMulShape.of(
                node.input(0).shape(),
                node.input(1).shape(),
                op.product().transposeA(),
                op.product().transposeB());
    }

    /** Why the kernel cannot make a node, whatever the device; empty where it can. */
    private static String misfit(NormedMatMul op, Node node, Precision precision) {
        DType dtype = node.output().dtype();
        MatMulShape shape = shape(op, node);
        boolean tf32 = dtype == DType.F32 && precision == Precision.FAST;
        if (dtype != DType.F16 && dtype != DType.BF16 && !tf32) {
            return "operands are " + dtype + (dtype == DType.F32 ? ", not to be rounded to TF32" : "");
        }
        Epilogue epilogue = op.product().epilogue();
        if (!shape.batch().isEmpty() || shape.transposeA() || epilogue.activation() != null) {
            return "it takes one matrix along k and no activation";
        }
        if (!op.product().transposeB() && !(node.input(1).constant() instanceof ConstantData.Dense)) {
            return "the right operand is [k,n] and no constant; it takes [n,k]";
        }
        int pack = PACK_BYTES / dtype.bytes();
        if (shape.k() == 0 || shape.k() % pack != 0 || !NormPlan.holds(dtype, shape.n())) {
            return "sums of " + shape.k() + " elements and " + shape.n() + " columns; it takes sums in multiples of "
                    + pack + ", and at most 8 tiles of 128, 192 or, of halves, 256 columns";
        }
        if (Math.max(shape.m(), shape.k()) > Integer.MAX_VALUE / 2) {
            return "places are counted in 32 bits";
        }
        Shape row = Shape.of(shape.n());
        return node.inputs().subList(op.products(), node.inputs().size()).stream()
                        .allMatch(value -> value.shape().equals(row))
                ? ""
                : "scale or bias is not a number a column";
    }

    /** How a node is made. */
    sealed interface Answer {
        /** In one launch. */
        record Whole(NormPlan plan) implements Answer {}

        /** Apart. */
        record Refused(String reason) implements Answer {}
    }

    /**
     * How a product is made that fits.
     *
     * @param specific whether code for the device's own form can be compiled
     */
    static Answer answer(
            NormedMatMul op,
            DType dtype,
            MatMulShape shape,
            DeviceProperties device,
            boolean specific,
            ProductForm form) {
        if (form != ProductForm.BY_CHOICE && form != ProductForm.RING) {
            return new Answer.Refused("other products are asked for");
        }
        if (device.architecture().number() != CAPABILITY) {
            return new Answer.Refused("compute capability " + device.architecture() + " is not 9.0");
        }
        if (!specific) {
            return new Answer.Refused("no compiler for sm_90a");
        }
        if (!device.cooperativeLaunch()) {
            return new Answer.Refused("the device has no cooperative launches");
        }
        Epilogue epilogue = op.product().epilogue();
        NormPlan plan = NormPlan.of(shape, dtype, epilogue.residual(), device);
        if (plan == null) {
            return new Answer.Refused("a block has too little shared memory");
        }
        double apart = WarpgroupProducts.library(dtype, shape, epilogue.residual()) + normed(dtype, shape);
        return form == ProductForm.RING || plan.microseconds() < apart
                ? new Answer.Whole(plan)
                : new Answer.Refused(Micros.text(plan.microseconds()) + " us by the model, product and norm apart "
                        + Micros.text(apart));
    }

    /** Microseconds of a launch of its own for the norm. */
    private static double normed(DType dtype, MatMulShape shape) {
        return WarpgroupProducts.LAUNCH + 2.0 * shape.m() * shape.n() / (WarpgroupProducts.BYTES / dtype.bytes());
    }

    /** Why a node is made part by part; empty where one launch makes it. */
    public static String refusal(NormedMatMul op, Node node, GpuLoweringContext context) {
        String misfit = misfit(op, node, context.precision());
        if (!misfit.isEmpty() || node.output().shape().elements() == 0) {
            return misfit;
        }
        if (!context.compilerRefused().isEmpty()) {
            return context.compilerRefused();
        }
        return answer(op, node, context) instanceof Answer.Refused(String reason) ? reason : "";
    }

    private static Answer answer(NormedMatMul op, Node node, GpuLoweringContext context) {
        return answer(
                op,
                node.output().dtype(),
                shape(op, node),
                context.kernels().context().device(),
                context.kernels().compilesSpecific(),
                context.products());
    }

    /** The step of a node for which there is no {@link #refusal}. */
    public static GpuStep lower(NormedMatMul op, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        if (!(answer(op, node, context) instanceof Answer.Whole(NormPlan plan))) {
            throw new IllegalStateException(op + " is made part by part");
        }
        return new WarpgroupNorm(op, node, shape(op, node), plan, context);
    }
}
