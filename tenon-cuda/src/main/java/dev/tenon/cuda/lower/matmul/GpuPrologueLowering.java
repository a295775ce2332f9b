package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering.Slots;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.Architecture;

/** Products that make their left operand while they read it: in one launch where {@code gemv} makes the product. */
public final class GpuPrologueLowering {
    private GpuPrologueLowering() {}

    /** Whether a node of concrete types may be made in one launch. */
    public static boolean claims(PrologueMatMul op, Node node) {
        for (Value input : node.inputs()) {
            if (!input.shape().isConcrete()) {
                return false;
            }
        }
        if (node.output().shape().elements() == 0 || !misfit(op, node).isEmpty()) {
            return false;
        }
        MatMulShape shape = shape(op, node, false);
        DType dtype = node.output().dtype();
        return GemvPlan.refusal(dtype, shape).isEmpty()
                && shape.m() <= GemvPlan.soonest(dtype, shape)
                && weightBytes(dtype, shape) >= MatMulChoice.GEMV_WEIGHT
                && slow(op, shape).isEmpty();
    }

    private static long weightBytes(DType dtype, MatMulShape shape) {
        return SizeMath.product("matmul", shape.k(), shape.n(), dtype.bytes());
    }

    /** @param turned whether the right operand, [k,n], is read as [n,k] */
    private static MatMulShape shape(PrologueMatMul op, Node node, boolean turned) {
        Shape x = node.input(0).shape();
        int last = x.rank() - 1;
        Shape a = op.prologue() instanceof GatedUnit ? x.with(last, Dim.of(x.size(last) / 2)) : x;
        Shape b = node.input(op.prologues()).shape();
        return MatMulShape.of(
                a,
                turned ? Shape.of(b.size(1), b.size(0)) : b,
                op.product().transposeA(),
                op.product().transposeB() || turned);
    }

    /** Why the kernel cannot make a node, whatever the device; empty where it can. */
    private static String misfit(PrologueMatMul op, Node node) {
        DType dtype = node.output().dtype();
        int rank = node.input(0).shape().rank();
        boolean along = switch (op.prologue()) {
            case RmsNorm norm -> norm.axis() == rank - 1;
            case LayerNorm norm -> norm.axis() == rank - 1;
            default -> true;
        };
        boolean floats = switch (dtype) {
            case F32, F64, F16, BF16 -> true;
            default -> false;
        };
        if (!floats || node.input(0).dtype() != dtype) {
            return "operands are " + node.input(0).dtype();
        }
        if (!along || op.product().transposeA()) {
            return "rows do not lie along k";
        }
        Shape row = Shape.of(shape(op, node, false).k());
        for (Value parameter : node.inputs().subList(1, op.prologues())) {
            if (!parameter.shape().equals(row)) {
                return "scale or bias is not a number a column";
            }
        }
        return row.elements() == 0 ? "the sum is empty" : "";
    }

    /** Why parts are sooner; empty where they are not: every block that reads all of k makes all of k. */
    private static String slow(PrologueMatMul op, MatMulShape shape) {
        return isOfElements(op.prologue()) && shape.transposeB()
                ? "the weight lies as [n,k], so that each block would compute the function of all elements"
                : "";
    }

    private static boolean isOfElements(Op prologue) {
        return prologue instanceof Unary || prologue instanceof GatedUnit;
    }

    /** The input of any node that a product may want transposed, if a library makes it; -1 for none. */
    public static int turned(Node node, Architecture architecture, Precision precision) {
        int weight = node.op() instanceof PrologueMatMul whole ? whole.prologues() : 1;
        MatMul product = node.op() instanceof PrologueMatMul whole
                ? whole.product()
                : node.op() instanceof MatMul plain ? plain : null;
        boolean may = product != null
                && GpuMatMulLowering.mayWantTransposed(
                        product, node.input(weight), node.output().dtype(), architecture, precision);
        return may ? weight : -1;
    }

    /** How a node is made in one launch, or why it is not. */
    private record Answer(MatMulChoice choice, MatMulShape shape, boolean turned, String refusal) {}

    private static Answer answer(PrologueMatMul op, Node node, GpuLoweringContext context) {
        Value weight = node.input(op.prologues());
        DType dtype = node.output().dtype();
        boolean turned = GpuMatMulLowering.wantsTransposed(op.product(), weight, dtype, context);
        MatMulShape shape = shape(op, node, turned);
        MatMulChoice choice = MatMulChoice.of(
                dtype,
                shape,
                op.product().epilogue(),
                new MatMulChoice.Offer(
                        context.blas()::unavailable,
                        context.blas().ltUnavailable(),
                        context.kernels().context().device(),
                        context.products()),
                context.precision());
        if (choice.tier() != MatMulChoice.Tier.GEMV) {
            String first = choice.passedOver().isEmpty()
                    ? "the result is empty"
                    : choice.passedOver().getFirst();
            return new Answer(choice, shape, turned, first);
        }
        long shared = GemvPlan.of(dtype, shape, context.kernels().context().device())
                .sharedBytes(dtype, shape.m(), shape.k());
        int room = context.kernels().context().device().sharedBytesPerBlockOptIn() - GemvPlan.STATIC_BYTES;
        if (shared > room) {
            return new Answer(
                    choice, shape, turned, "rows take " + shared + " bytes of shared memory; a block has " + room);
        }
        return new Answer(choice, shape, turned, context.products() == ProductForm.FEW_ROWS ? "" : slow(op, shape));
    }

    /** Why a node is made part by part; empty where one launch makes it. */
    public static String refusal(PrologueMatMul op, Node node, GpuLoweringContext context) {
        String misfit = misfit(op, node);
        return misfit.isEmpty() ? answer(op, node, context).refusal : misfit;
    }

    /** The step of a node for which there is no {@link #refusal}. */
    public static GpuStep lower(PrologueMatMul op, Node node, GpuLoweringContext context) {
        Answer answer = answer(op, node, context);
        int weight = op.prologues();
        MatMul product = op.product();
        Epilogue epilogue = product.epilogue();
        Value b = node.input(weight);
        Slots slots = new Slots(
                context.slot(node.input(0)),
                answer.turned ? context.transposedSlot(b) : context.slot(b),
                epilogue.bias() ? context.slot(node.input(weight + 1)) : -1,
                epilogue.residual() ? context.slot(node.inputs().getLast()) : -1,
                context.slot(node.output()));
        return GemvMatMul.step(
                new GemvMatMul.Product(
                        answer.choice, epilogue, node.output().dtype(), answer.shape, slots, b.constant() != null),
                GemvPrologue.of(op, node, context),
                context);
    }
}
