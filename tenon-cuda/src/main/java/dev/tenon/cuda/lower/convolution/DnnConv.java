package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.dnn.DnnAnswer;
import dev.tenon.cuda.dnn.DnnAsked;
import dev.tenon.cuda.dnn.DnnPlan;
import dev.tenon.cuda.dnn.DnnProblem;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.tuning.Rival;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A convolution by cuDNN, and what is left to do by our kernels, in place. The library has zeros where windows meet
 * padding, which make NaN of weights that are not finite, or, by some of its kernels, zeros; where such weights may
 * be, a kernel of ours makes the results of their output channels again.
 *
 * @param tier in words
 * @param mend null where weights are known to be finite, or there is no padding
 * @param finish null where the library does all
 */
record DnnConv(
        String tier,
        List<String> passedOver,
        DnnPlan plan,
        @Nullable PreparedLaunch mend,
        @Nullable PreparedLaunch finish,
        ConvOperands operands)
        implements GpuStep {
    private static final String FUSED = "1 fused: ";
    private static final String PLAIN = "2 cudnn: ";
    private static final String THEN_MEND = ", then conv_mend";

    /**
     * The step.
     *
     * @param mends whether {@link ConvMend} is needed
     * @param rivals makes what is timed beside the library where that makes the whole convolution; null for none
     * @param ours makes the step that is such a rival
     * @param passed takes the reasons why cuDNN does not run it
     * @return null where cuDNN does not take the convolution
     */
    static @Nullable GpuStep step(
            ConvGeometry geometry,
            ConvOperands operands,
            Node node,
            boolean mends,
            GpuLoweringContext context,
            Supplier<@Nullable Rival> rivals,
            Supplier<@Nullable GpuStep> ours,
            List<String> passed) {
        String refusal = refusal(geometry, operands, context);
        if (!refusal.isEmpty()) {
            passed.add(FUSED + refusal);
            passed.add(PLAIN + refusal);
            return null;
        }
        Rival rival = rivals.get();
        DnnProblem problem = problem(geometry, operands, node, context.precision());
        String type =
                (problem.tf32() ? "TF32" : operands.dtype().toString()) + (geometry.last() ? ", channels last" : "");
        String fusing = fusing(operands.epilogue());
        if (fusing.isEmpty()) {
            switch (context.prepare(problem, rival)) {
                case DnnPlan plan -> {
                    PreparedLaunch mend = mends ? ConvMend.of(geometry, operands, operands.epilogue(), context) : null;
                    String tier = FUSED + "cuDNN, " + type + operands.words() + (mends ? THEN_MEND : "")
                            + workspace(plan, context);
                    return LaterConv.until(new DnnConv(tier, passed, plan, mend, null, operands), ours);
                }
                case DnnAnswer.Refusal none -> fusing = none.reason();
                case DnnAnswer.Slower slower -> {
                    passed.add(FUSED + slower.reason());
                    passed.add(PLAIN + slower.reason());
                    return null;
                }
            }
        }
        passed.add(FUSED + fusing);
        switch (context.prepare(problem.plain(), operands.epilogue().isEmpty() ? rival : null)) {
            case DnnPlan plan -> {
                PreparedLaunch finish = operands.epilogue().isEmpty() ? null : finish(geometry, operands, context);
                String then = finish == null
                        ? ""
                        : ", then conv_finish" + operands.words().replaceFirst(",", ":");
                PreparedLaunch mend = mends ? ConvMend.of(geometry, operands, Epilogue.NONE, context) : null;
                String tier = PLAIN + "cuDNN, " + type + (mends ? THEN_MEND : "") + then + workspace(plan, context);
                return LaterConv.until(new DnnConv(tier, passed, plan, mend, finish, operands), ours);
            }
            case DnnAnswer.Refusal none -> passed.add(PLAIN + none.reason());
            case DnnAnswer.Slower slower -> passed.add(PLAIN + slower.reason());
        }
        return null;
    }

    /** What a step will ask the library first; empty where it asks nothing. */
    static Optional<DnnAsked> asked(
            ConvGeometry geometry,
            ConvOperands operands,
            Node node,
            GpuLoweringContext context,
            Supplier<@Nullable Rival> rivals) {
        if (!refusal(geometry, operands, context).isEmpty()) {
            return Optional.empty();
        }
        DnnProblem problem = problem(geometry, operands, node, context.precision());
        boolean fused = fusing(operands.epilogue()).isEmpty();
        boolean whole = fused || operands.epilogue().isEmpty();
        return Optional.of(new DnnAsked(fused ? problem : problem.plain(), whole && rivals.get() != null));
    }

    /** Why the library is not asked to do all; empty where it is. */
    private static String fusing(Epilogue epilogue) {
        Unary function = epilogue.activation();
        return epilogue.isEmpty()
                ? "there is no epilogue"
                : function != null && function.fn() != UnaryFn.RELU
                        ? function.fn().word() + " is not relu"
                        : "";
    }

    private static String workspace(DnnPlan plan, GpuLoweringContext context) {
        return plan.workspaceBytes() == 0
                ? ""
                : ", workspace " + plan.workspaceBytes() + " of "
                        + context.dnn().mostWorkspaceBytes() + " bytes";
    }

    private static String refusal(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        if (operands.dtype() == DType.F64) {
            return "f64 is left to our kernels";
        }
        if (geometry.axes().size() > ConvPhase.DIMS) {
            return geometry.axes().size() + " spatial dims are more than " + ConvPhase.DIMS;
        }
        if (geometry.channels() == 0) {
            return "the sum is empty";
        }
        if (operands.dtype().bytes() == 2 && !geometry.last() && !geometry.transposed()) {
            // as cuDNN 9.19 has it: sums of infinite elements came out 0, and NaN spread to other groups
            return "its kernels for " + operands.dtype() + " with channels first take infinite elements wrongly";
        }
        if (geometry.transposed() && geometry.axes().size() == ConvPhase.DIMS) {
            // cuDNN 9.19: an illegal instruction for f32[3,7,9,6,9] by f32[7,2,1,4,2], another one never ended
            return "its kernels for transposed convolutions of " + ConvPhase.DIMS + " spatial dims can end the context";
        }
        return context.dnn().unavailable();
    }

    private static DnnProblem problem(ConvGeometry geometry, ConvOperands operands, Node node, Precision precision) {
        Unary function = operands.epilogue().activation();
        return new DnnProblem(
                operands.dtype(),
                sizes(geometry, node.input(0).shape(), ConvGeometry.Axis::input),
                sizes(geometry, node.input(1).shape(), ConvGeometry.Axis::kernel),
                sizes(geometry, node.output().shape(), ConvGeometry.Axis::output),
                each(geometry, ConvGeometry.Axis::stride),
                each(geometry, ConvGeometry.Axis::before),
                each(geometry, ConvGeometry.Axis::after),
                each(geometry, ConvGeometry.Axis::dilation),
                geometry.transposed(),
                geometry.last(),
                operands.dtype() == DType.F32 && precision == Precision.FAST,
                operands.epilogue().bias(),
                function != null,
                operands.epilogue().residual(),
                operands.epilogue().residualFirst());
    }

    private static List<Long> sizes(ConvGeometry geometry, Shape shape, ToLongFunction<ConvGeometry.Axis> size) {
        long channels = shape.size(geometry.last() ? shape.rank() - 1 : 1);
        List<Long> all = new ArrayList<>(List.of(shape.size(0), channels));
        all.addAll(each(geometry, size));
        return all;
    }

    private static List<Long> each(ConvGeometry geometry, ToLongFunction<ConvGeometry.Axis> size) {
        return geometry.axes().stream().map(size::applyAsLong).toList();
    }

    private static PreparedLaunch finish(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        long positions = geometry.positions();
        long channels = SizeMath.product("conv", geometry.groups(), geometry.outputs());
        long elements = SizeMath.product("conv", geometry.batch(), channels, positions);
        int widest = 16 / operands.dtype().bytes();
        boolean packed = !geometry.last() && positions % widest == 0;
        PreparedLaunch.Builder launch = PreparedLaunch.of(
                        context.kernels()
                                .kernel(
                                        WindowCatalog.CONV_FINISH,
                                        packed ? "conv_finish_vw" : "conv_finish",
                                        KernelVariant.of(operands.dtype())),
                        Grids.of(packed ? elements / widest : elements))
                .value(operands.y())
                .value(operands.bias())
                .value(operands.residual())
                .addAll(elements, geometry.last() ? 1 : positions, channels);
        return operands.activation(launch).build();
    }

    /** With how the engine was chosen, which may come after the step. */
    @Override
    public String tier() {
        String chosen = plan.chosen();
        return chosen.isEmpty() ? tier : tier + ", " + chosen;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        boolean whole = finish == null;
        plan.enqueue(
                frame.stream(),
                frame.at(operands.x()),
                frame.at(operands.w()),
                frame.at(operands.y()),
                whole && operands.bias() >= 0 ? frame.at(operands.bias()) : 0,
                whole && operands.residual() >= 0 ? frame.at(operands.residual()) : 0,
                frame.workspace());
        if (mend != null) {
            mend.enqueue(frame);
        }
        if (finish != null) {
            finish.enqueue(frame);
        }
    }

    @Override
    public long workspaceBytes() {
        return plan.workspaceBytes();
    }
}
