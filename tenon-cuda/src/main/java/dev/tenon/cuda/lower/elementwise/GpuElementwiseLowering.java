package dev.tenon.cuda.lower.elementwise;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cuda.kernel.ElementwiseKernels;
import dev.tenon.cuda.kernel.FusedRegion;
import dev.tenon.cuda.kernel.RegionProgram;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.IdleWork;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.RegionForm;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Elementwise operations: single ones, pairs that have a kernel, and regions: compiled, interpreted or piece by piece.
 */
public final class GpuElementwiseLowering {
    /** Elements from which a function of floats is worth a kernel of its own: that for all functions has branches. */
    private static final long LARGE = 1 << 20;

    private GpuElementwiseLowering() {}

    /** What a kernel reports: the right operand of an operation on integers. */
    public static String fault(long operand) {
        return operand == 0
                ? "division of an integer by zero; expected a divisor other than 0"
                : "no integer is 0 to the power of " + operand + "; expected an exponent of 0 or more";
    }

    public static GpuStep lower(Node node, GpuLoweringContext context) {
        long elements = node.output().shape().elements();
        if (elements == 0) {
            return new NoWork(node.op().mnemonic());
        }
        return node.op() instanceof Region region
                ? region(region, node, elements, context)
                : single((Elementwise) node.op(), identity(node.inputs().size()), node, elements, context);
    }

    /**
     * Whether kernels take all types of a region: 8-bit floats are worked on in f32, integers of 4 bits are cast from
     * and to, and the last step alone may give some.
     */
    public static boolean takesTypes(Region region, Node node) {
        List<DType> types = RegionProgram.types(region, types(node.inputs()));
        int inputs = node.inputs().size();
        for (int i = 0; i < region.steps().size(); i++) {
            Region.Step step = region.steps().get(i);
            boolean packed = isPacked(types.get(inputs + i))
                    || step.arguments().stream().anyMatch(argument -> isPacked(types.get(argument)));
            if (packed && !(step.op() instanceof Cast)) {
                return false;
            }
        }
        return node.outputs().stream().noneMatch(output -> isPacked(output.dtype()))
                || PiecewiseRegion.writesOutput(region, node);
    }

    private static boolean isPacked(DType dtype) {
        return dtype.bits() < 8;
    }

    /** Whether there are 8-bit floats or integers of 4 bits in it. */
    private static boolean hasNarrow(Region region, Node node) {
        return !RegionProgram.types(region, types(node.inputs())).stream().allMatch(TypeCodes::has);
    }

    /**
     * What a region is whatever sizes it works on.
     *
     * @param narrow whether there are 8-bit floats or integers of 4 bits in it
     * @param misfit why the interpreter does not take it; empty where it does
     * @param program what the interpreter reads; null where it does not take it
     */
    private record Facts(
            boolean narrow, String misfit, @Nullable RegionProgram program) {
        static Facts of(Region region, List<DType> types) {
            String misfit = RegionProgram.misfit(region, types);
            return new Facts(
                    !RegionProgram.types(region, types).stream().allMatch(TypeCodes::has),
                    misfit,
                    misfit.isEmpty() ? new RegionProgram(region, types) : null);
        }
    }

    /** A region and the types that it reads. */
    private record Asked(Region region, List<DType> types) {}

    private static GpuStep region(Region region, Node node, long elements, GpuLoweringContext context) {
        if (region.steps().size() == 1 && region.results().size() == 1 && coversInputs(region, node)) {
            Region.Step only = region.steps().getFirst();
            return single(only.op(), only.arguments(), node, elements, context);
        }
        List<String> passedOver = new ArrayList<>();
        List<DType> types = types(node.inputs());
        Facts facts = context.lasting(new Asked(region, types), Facts.class, () -> Facts.of(region, types));
        GpuStep pair = facts.narrow ? null : pair(region, node, elements, context);
        if (pair != null) {
            return pair;
        }
        RegionProgram program = facts.program;
        GpuStep fused = fused(region, node, context, program != null, passedOver);
        if (fused != null) {
            return fused;
        }
        if (program == null) {
            passedOver.add("elementwise_region: " + facts.misfit);
            return new PiecewiseRegion(region, node, context, passedOver);
        }
        Broadcast broadcast = Broadcast.of(node.output().shape(), shapes(node.inputs()));
        GpuStep interpreted = new GpuElementwiseStep(
                new ElementwiseKernels(context.kernels())
                        .region(program, broadcast, node.inputs().size(), elements),
                slots(node.inputs(), context),
                context.slot(node.output()),
                context.stepNumber(),
                "elementwise_region of " + region.steps().size() + " steps"
                        + (program.wide() ? ", 64 bits a register" : ""),
                passedOver);
        return compiledWhenIdle(region, node, context, interpreted);
    }

    /** A step that goes on as a compiled region once the device has been idle, where such a region can be. */
    private static GpuStep compiledWhenIdle(Region region, Node node, GpuLoweringContext context, GpuStep step) {
        IdleWork idle = context.idleWork();
        if (idle == null
                || context.regions() != RegionForm.BY_SIZE
                || !FusedRegion.misfit(region, node.output().shape(), types(node.inputs()))
                        .isEmpty()
                || !context.compilerRefused().isEmpty()) {
            return step;
        }
        FusedRegion fused = fused(region, node);
        int[] slots = allSlots(node, context);
        int number = context.stepNumber();
        ImprovingStep improving = new ImprovingStep(step);
        WeakReference<ImprovingStep> served = new WeakReference<>(improving); // its plan may be gone before
        idle.add(kernels -> {
            ImprovingStep there = served.get();
            if (there != null) {
                there.goOnAs(new FusedStep(
                        new ElementwiseKernels(kernels).fused(fused), slots, number, fused.tier(), List.of()));
            }
            return there != null;
        });
        return improving;
    }

    private static FusedRegion fused(Region region, Node node) {
        return new FusedRegion(region, node.output().shape(), types(node.inputs()), shapes(node.inputs()));
    }

    /** Of the inputs and after them of the outputs. */
    private static int[] allSlots(Node node, GpuLoweringContext context) {
        return IntStream.concat(
                        IntStream.of(slots(node.inputs(), context)), IntStream.of(slots(node.outputs(), context)))
                .toArray();
    }

    /**
     * The compiled form; null, and the reason in {@code passedOver}, where it does not pay, cannot be, or was refused.
     *
     * @param hasOther whether another kernel takes the region
     */
    private static @Nullable GpuStep fused(
            Region region, Node node, GpuLoweringContext context, boolean hasOther, List<String> passedOver) {
        List<DType> types = types(node.inputs());
        Shape shape = node.output().shape();
        String reason = FusedRegion.misfit(region, shape, types);
        if (reason.isEmpty()) {
            reason = context.regions().notCompiled(shape.elements(), hasOther, () -> isHeld(region, node, context));
        }
        if (reason.isEmpty()) {
            reason = context.compilerRefused(); // kernels built ahead, and no compiler
        }
        if (reason.isEmpty()) {
            FusedRegion fused = fused(region, node);
            return new FusedStep(
                    new ElementwiseKernels(context.kernels()).fused(fused),
                    allSlots(node, context),
                    context.stepNumber(),
                    fused.tier(),
                    List.of());
        }
        passedOver.add("elementwise_fused: " + reason);
        return null;
    }

    /** Whether the compiled form is there; not asked where nothing is compiled ahead of its use. */
    private static boolean isHeld(Region region, Node node, GpuLoweringContext context) {
        return context.idleWork() != null && fused(region, node).isHeld(context.kernels());
    }

    private static GpuStep single(
            Elementwise op, List<Integer> arguments, Node node, long elements, GpuLoweringContext context) {
        List<Value> operands = arguments.stream().map(node::input).toList();
        List<String> passedOver = new ArrayList<>();
        Region alone = new Region(List.of(new Region.Step(op, arguments)), List.of(0));
        if (!(op instanceof Cast) && !(op instanceof Where) && hasNarrow(alone, node)) {
            return new PiecewiseRegion(alone, node, context, passedOver);
        }
        if (hasIntegers(op, node, operands) || (op instanceof Unary && elements >= LARGE)) {
            GpuStep fused = fused(alone, node, context, true, passedOver);
            if (fused != null) {
                return fused;
            }
        }
        return new GpuElementwiseStep(
                new ElementwiseKernels(context.kernels())
                        .single(op, types(operands), Broadcast.of(node.output().shape(), shapes(operands)), elements),
                slots(operands, context),
                context.slot(node.output()),
                context.stepNumber(),
                op.mnemonic(),
                passedOver);
    }

    /** Whether the kernel of a single operation goes element by element, which a compiled region does not. */
    private static boolean hasIntegers(Elementwise op, Node node, List<Value> operands) {
        boolean cast = op instanceof Cast && !node.output().dtype().isFloat();
        return !(op instanceof Where) && (cast || !operands.getLast().dtype().isFloat());
    }

    /** then(fn(a, b)) where nothing else is wanted of the region. */
    private static @Nullable GpuStep pair(Region region, Node node, long elements, GpuLoweringContext context) {
        int inputs = node.inputs().size();
        if (region.steps().size() != 2 || !region.results().equals(List.of(1)) || !coversInputs(region, node)) {
            return null;
        }
        Region.Step first = region.steps().get(0);
        Region.Step second = region.steps().get(1);
        if (!(first.op() instanceof Binary binary)
                || !(second.op() instanceof Unary unary)
                || unary.fn().isTest()
                || second.arguments().getFirst() != inputs) {
            return null;
        }
        List<Value> operands = first.arguments().stream().map(node::input).toList();
        return new GpuElementwiseStep(
                new ElementwiseKernels(context.kernels())
                        .binaryUnary(
                                binary.fn(),
                                unary,
                                operands.getFirst().dtype(),
                                Broadcast.of(node.output().shape(), shapes(operands)),
                                elements),
                slots(operands, context),
                context.slot(node.output()),
                context.stepNumber(),
                "fused_binary_unary",
                List.of());
    }

    /** Whether the first step reads every input, so that its shape is the region's. */
    private static boolean coversInputs(Region region, Node node) {
        return region.steps()
                .getFirst()
                .arguments()
                .containsAll(identity(node.inputs().size()));
    }

    private static List<Integer> identity(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    static List<DType> types(List<Value> values) {
        return values.stream().map(Value::dtype).toList();
    }

    static List<Shape> shapes(List<Value> values) {
        return new ArrayList<>(values.stream().map(Value::shape).toList());
    }

    private static int[] slots(List<Value> values, GpuLoweringContext context) {
        int[] slots = new int[values.size()];
        Arrays.setAll(slots, i -> context.slot(values.get(i)));
        return slots;
    }
}
