package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.error.Text;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.quantisation.DequantizedWeight;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.blas.LtAnswer;
import dev.tenon.cuda.blas.LtProduct;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.MatMulChoice.Offer;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.nativelib.Switches;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Matrix products: by the libraries where they are, else by our own kernel. With {@code TENON_LOG_FALLBACK=1} each
 * choice is logged with the reasons.
 */
public final class GpuMatMulLowering {
    private static final System.Logger LOG = System.getLogger(GpuMatMulLowering.class.getName());
    private static final boolean LOGGED = Switches.on("TENON_LOG_FALLBACK", false);

    /**
     * What a decision depends on within a plan. Not a record: the JVM takes long for the first thousands of comparisons
     * of those.
     */
    private static final class Asked {
        final DType dtype;
        final MatMulShape shape;
        final Epilogue epilogue;
        /** Why there is no cuBLASLt. */
        final String lt;
        /** Why a weight that is dequantised is not multiplied as it is packed; empty for other weights. */
        final String refusal;
        /** Whether kernels may be compiled for the device's own form. */
        final boolean specific;

        Asked(DType dtype, MatMulShape shape, Epilogue epilogue, String lt, String refusal, boolean specific) {
            this.dtype = dtype;
            this.shape = shape;
            this.epilogue = epilogue;
            this.lt = lt;
            this.refusal = refusal;
            this.specific = specific;
        }

        @Override
        public int hashCode() {
            return Long.hashCode((shape.m() * 31 + shape.n()) * 31 + shape.k()) + epilogue.inputs();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Asked asked
                    && dtype == asked.dtype
                    && specific == asked.specific
                    && lt.equals(asked.lt)
                    && refusal.equals(asked.refusal)
                    && shape.isSame(asked.shape)
                    && epilogue.bias() == asked.epilogue.bias()
                    && epilogue.residual() == asked.epilogue.residual()
                    && epilogue.residualFirst() == asked.epilogue.residualFirst()
                    && Objects.equals(epilogue.activation(), asked.epilogue.activation());
        }
    }

    /**
     * How products are made that ask for the same.
     *
     * @param prepared where cuBLASLt makes them
     * @param plan where a kernel of warpgroups does
     * @param tiling where our kernel on tensor cores does
     * @param text the tier in words; empty where its step says more
     */
    private record Decided(
            MatMulChoice choice,
            @Nullable LtProduct prepared,
            @Nullable WarpgroupPlan plan,
            TensorCoreMatMul.@Nullable Tiling tiling,
            String text) {}

    private GpuMatMulLowering() {}

    public static GpuStep lower(MatMul op, Node node, GpuLoweringContext context) {
        DType dtype = node.output().dtype();
        boolean turned = wantsTransposed(op, node.input(1), dtype, context);
        Shape a = node.input(0).shape();
        Shape b = node.input(1).shape();
        MatMulShape shape = turned
                ? MatMulShape.of(a, Shape.of(b.size(1), b.size(0)), op.transposeA(), true)
                : MatMulShape.of(a, b, op.transposeA(), op.transposeB());
        int weight = turned ? context.transposedSlot(node.input(1)) : context.slot(node.input(1));
        Slots slots = Slots.of(op.epilogue(), weight, node, context);
        boolean constant = node.input(1).constant() != null;
        GpuStep step = step(op.epilogue(), dtype, shape, slots, constant, DequantizedWeight.refusal(node), context);
        if (LOGGED) {
            LOG.log(
                    Level.INFO,
                    "\"" + Text.name(node.name()) + "\": " + step.tier() + "; passed over " + step.passedOver());
        }
        return step;
    }

    /**
     * Whether a library is to read a constant weight as [n,k]: tensor cores of compute capability 9.0 take TF32
     * operands along k alone, so that kernels for [k,n] are those of older devices.
     */
    static boolean wantsTransposed(MatMul op, Value weight, DType dtype, GpuLoweringContext context) {
        return mayWantTransposed(
                        op, weight, dtype, context.kernels().context().device().architecture(), context.precision())
                && context.compilerRefused().isEmpty() // a kernel transposes the weight
                // last: the answer waits for a library that is being started
                && (context.blas().ltUnavailable().isEmpty()
                        || context.blas().unavailable().isEmpty());
    }

    /** Whether a product's constant weight will be wanted transposed if a library makes the product. */
    public static boolean mayWantTransposed(
            MatMul op, Value weight, DType dtype, Architecture architecture, Precision precision) {
        return !op.transposeB()
                && dtype == DType.F32
                && precision == Precision.FAST
                && architecture.number() == 90
                && weight.shape().rank() == 2
                && weight.constant() instanceof ConstantData.Dense;
    }

    /**
     * @param constant whether no step writes the weight
     * @param refusal why a weight that is dequantised is not multiplied as it is packed; empty for other weights
     */
    private static GpuStep step(
            Epilogue epilogue,
            DType dtype,
            MatMulShape shape,
            Slots slots,
            boolean constant,
            String refusal,
            GpuLoweringContext context) {
        Asked asked = new Asked(
                dtype,
                shape,
                epilogue,
                context.blas().ltUnavailable(),
                refusal,
                context.kernels().compilesSpecific());
        Decided decided = context.shared(asked, Decided.class, () -> decided(asked, context));
        MatMulChoice choice = decided.choice;
        MatMulKernels kernels = new MatMulKernels(context.kernels());
        return switch (choice.tier()) {
            case NONE -> new NoWork(decided.text);
            case GEMV ->
                GemvMatMul.step(
                        new GemvMatMul.Product(choice, epilogue, dtype, shape, slots, constant),
                        GemvPrologue.NONE,
                        context);
            case WARPGROUPS ->
                new WarpgroupMatMul(
                        choice, epilogue, dtype, shape, Objects.requireNonNull(decided.plan), slots, context);
            case TENSOR_CORE ->
                TensorCoreMatMul.step(
                        choice, Objects.requireNonNull(decided.tiling), decided.text, epilogue, shape, slots, context);
            case SCALAR -> new ScalarMatMul(choice, epilogue, dtype, shape, kernels, slots);
            case MIXED, FUSED, BLAS -> {
                MatMulKernels.Finish finish = choice.fused()
                        ? null
                        : kernels.finish(
                                dtype, shape.matrices() * shape.m(), shape.n(), epilogue.bias(), epilogue.activation());
                LtProduct prepared = decided.prepared;
                GemmCalls calls =
                        prepared == null ? new GemmCalls(problem(choice, epilogue, dtype, shape), shape) : null;
                yield new LibraryMatMul(
                        decided.text,
                        choice.passedOver(),
                        prepared,
                        calls,
                        finish,
                        slots,
                        context.blas().workspaceBytes());
            }
        };
    }

    private static Decided decided(Asked asked, GpuLoweringContext context) {
        DType dtype = asked.dtype;
        MatMulShape shape = asked.shape;
        Epilogue epilogue = asked.epilogue;
        Offer offer = new Offer(
                context.blas()::unavailable,
                asked.lt,
                context.kernels().context().device(),
                context.products());
        MatMulChoice choice = MatMulChoice.of(dtype, shape, epilogue, offer, context.precision());
        WarpgroupProducts.Answer warpgroups = warpgroups(choice, epilogue, dtype, shape, context);
        WarpgroupPlan plan = warpgroups == null ? null : warpgroups.plan();
        if (plan != null) {
            choice = choice.byWarpgroups("");
        }
        LtProduct prepared = null;
        if (choice.lt()) {
            WarpgroupPlan own = rival(choice, asked, context);
            Rival rival = own == null ? null : rival(choice, asked, own, context);
            switch (context.prepare(problem(choice, epilogue, dtype, shape), rival)) {
                case LtProduct product -> {
                    String untimed = own == null || product.isFound()
                            ? ""
                            : WarpgroupProducts.untimed(own, dtype, shape, epilogue, product.isLater());
                    if (untimed.isEmpty()) {
                        prepared = product;
                    } else {
                        choice = choice.byWarpgroups(untimed);
                        plan = own;
                    }
                }
                case LtAnswer.Slower slower -> {
                    choice = choice.byWarpgroups(slower.reason());
                    plan = own;
                }
                case LtAnswer.Refusal none ->
                    choice = MatMulChoice.of(
                            dtype, shape, epilogue, offer.withoutLt(none.reason()), context.precision());
            }
        }
        choice = warpgroups == null || plan != null ? choice : choice.notByWarpgroups(warpgroups.refusal());
        choice = asked.refusal.isEmpty() ? choice : choice.notQuantised(asked.refusal);
        return switch (choice.tier()) {
            case GEMV, WARPGROUPS, SCALAR -> new Decided(choice, prepared, plan, null, "");
            case NONE, MIXED, FUSED, BLAS ->
                new Decided(choice, prepared, null, null, choice.text(dtype, epilogue, ""));
            case TENSOR_CORE -> {
                TensorCoreMatMul.Tiling tiling = TensorCoreMatMul.tiling(dtype, shape, context);
                yield new Decided(
                        choice,
                        prepared,
                        null,
                        tiling,
                        choice.text(dtype, epilogue, tiling.plan().text()));
            }
        };
    }

    /** How warpgroups make a product; null where they are not concerned. */
    private static WarpgroupProducts.@Nullable Answer warpgroups(
            MatMulChoice choice, Epilogue epilogue, DType dtype, MatMulShape shape, GpuLoweringContext context) {
        boolean forced = context.products().isOfWarpgroups();
        boolean library = switch (choice.tier()) {
            case MIXED, FUSED, BLAS -> !forced;
            case NONE, GEMV, WARPGROUPS, TENSOR_CORE, SCALAR -> false;
        };
        return switch (choice.tier()) {
            case NONE, GEMV -> null;
            case WARPGROUPS, MIXED, FUSED, BLAS, TENSOR_CORE, SCALAR ->
                WarpgroupProducts.concerns(dtype, choice.tf32(), epilogue, library)
                        ? WarpgroupProducts.of(
                                dtype,
                                shape,
                                epilogue,
                                context.kernels().context().device(),
                                context.kernels().compilesSpecific(),
                                context.products())
                        : null;
        };
    }

    /** How a kernel of warpgroups is to be timed beside the library that a choice is for; null for not at all. */
    private static @Nullable WarpgroupPlan rival(MatMulChoice choice, Asked asked, GpuLoweringContext context) {
        return choice.fused()
                ? WarpgroupProducts.rival(
                        asked.dtype,
                        choice.tf32(),
                        asked.shape,
                        asked.epilogue,
                        context.kernels().context().device(),
                        asked.specific,
                        context.products())
                : null;
    }

    private static @Nullable Rival rival(
            MatMulChoice choice, Asked asked, WarpgroupPlan plan, GpuLoweringContext context) {
        MatMulShape shape = asked.shape;
        Slots slots = new Slots(0, 1, asked.epilogue.bias() ? 2 : -1, asked.epilogue.residual() ? 4 : -1, 3);
        long results = SizeMath.product("matmul", shape.m(), shape.n());
        List<Long> bytes = Stream.of(
                        SizeMath.product("matmul", shape.m(), shape.k()),
                        SizeMath.product("matmul", shape.k(), shape.n()),
                        shape.n(),
                        results,
                        asked.epilogue.residual() ? results : 0)
                .map(asked.dtype::bytesFor)
                .toList();
        return context.rival(
                bytes,
                with -> new WarpgroupMatMul(
                        choice.byWarpgroups(""), asked.epilogue, asked.dtype, shape, plan, slots, with));
    }

    private static GemmProblem problem(MatMulChoice choice, Epilogue epilogue, DType dtype, MatMulShape shape) {
        boolean fused = choice.fused() && choice.lt();
        GemmProblem.@Nullable Activation activation =
                fused ? MatMulChoice.activation(epilogue.activation()) : GemmProblem.Activation.NONE;
        if (activation == null) {
            throw new IllegalStateException(epilogue + " is not the library's");
        }
        boolean batched = !shape.batch().isEmpty();
        return new GemmProblem(
                shape.matrices(),
                shape.m(),
                shape.n(),
                shape.k(),
                shape.transposeA(),
                shape.transposeB(),
                batched ? shape.stridesA().getLast() : 0,
                batched ? shape.stridesB().getLast() : 0,
                dtype,
                dtype,
                fused && epilogue.residual(),
                fused && epilogue.bias(),
                activation,
                choice.tf32());
    }

    /**
     * Where a product's values are; -1 for those it does not have.
     *
     * @param a the left operand
     * @param b the right one
     * @param bias a number a column
     * @param residual like the result
     * @param y the result
     */
    record Slots(int a, int b, int bias, int residual, int y) {
        static Slots of(Epilogue epilogue, int b, Node node, GpuLoweringContext context) {
            return new Slots(
                    context.slot(node.input(0)),
                    b,
                    epilogue.bias() ? context.slot(node.input(2)) : -1,
                    epilogue.residual() ? context.slot(node.inputs().getLast()) : -1,
                    context.slot(node.output()));
        }

        static long at(GpuFrame frame, int slot) {
            return slot < 0 ? 0 : frame.at(slot);
        }
    }
}
