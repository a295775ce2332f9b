package dev.tenon.cuda.lower.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.cuda.kernel.FusedOperands;
import dev.tenon.cuda.kernel.FusedRows;
import dev.tenon.cuda.kernel.RegionProgram;
import dev.tenon.cuda.kernel.ResidualNormKernels;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.elementwise.GpuElementwiseLowering;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.RegionForm;
import dev.tenon.cuda.port.KernelArguments;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Row regions: a kernel compiled for each. */
public final class GpuRowRegionLowering {
    private GpuRowRegionLowering() {}

    /** One launch of a compiled row region. */
    private static final class FusedRowsStep implements GpuStep {
        private final FusedRows.Launch launch;
        private final int[] slots;
        private final int number;
        private final String tier;

        /** @param slots of the inputs and after them of the output */
        FusedRowsStep(FusedRows.Launch launch, int[] slots, int number, String tier) {
            this.launch = launch;
            this.slots = slots;
            this.number = number;
            this.tier = tier;
        }

        @Override
        public void enqueue(GpuFrame frame) {
            KernelArguments arguments = frame.arguments();
            launch.begin(arguments);
            for (int i = 0; i < slots.length; i++) {
                arguments.word(i, frame.at(slots[i]));
            }
            launch.enqueue(frame.stream(), arguments, frame.faults(), number);
        }

        @Override
        public String fault(long operand) {
            return GpuElementwiseLowering.fault(operand);
        }

        @Override
        public String tier() {
            return tier;
        }
    }

    /** Whether one launch does a node's work, and is done no later than one for each part. */
    public static boolean claims(RowRegion op, Node node) {
        List<TensorType> inputs = types(node);
        TensorType result = node.output().type();
        if (!result.shape().isConcrete()
                || !inputs.stream().allMatch(type -> type.shape().isConcrete())) {
            return false;
        }
        RegionForm form = RegionForm.asked();
        long elements = op.rowType(inputs).shape().elements();
        return elements > 0
                && form.notCompiled(elements, true, () -> false).isEmpty()
                && misfit(op, inputs, result).isEmpty()
                && (form == RegionForm.COMPILED || RowRegionTime.pays(op, inputs, result));
    }

    private static List<TensorType> types(Node node) {
        return node.inputs().stream().map(Value::type).toList();
    }

    /** Why a node is run part by part, though it was claimed; empty where it is not. */
    public static String refusal(RowRegion op, Node node, GpuLoweringContext context) {
        List<TensorType> inputs = types(node);
        long elements = op.rowType(inputs).shape().elements();
        String reason = elements == 0 && node.output().shape().elements() > 0
                ? "rows without elements"
                : context.regions().notCompiled(elements, false, () -> false);
        if (reason.isEmpty()) {
            reason = misfit(op, inputs, node.output().type());
        }
        return reason.isEmpty() ? context.compilerRefused() : reason; // kernels built ahead, and no compiler
    }

    /** Why no kernel can be made for a region; empty where it can. */
    static String misfit(RowRegion op, List<TensorType> inputs, TensorType result) {
        TensorType row = op.rowType(inputs);
        Shape shape = row.shape();
        int axis = op.rowAxis(shape);
        if (axis < 0) {
            return "what " + op.row().mnemonic() + " goes along is not whole rows";
        }
        long cols = shape.elements(axis, shape.rank());
        if (cols > ResidualNormKernels.mostCols(row.dtype())) {
            return "rows of " + cols + " elements; it takes " + ResidualNormKernels.mostCols(row.dtype());
        }
        TensorType given =
                op.row() instanceof Reduce reduce ? reduce.infer(List.of(row)).getFirst() : row;
        if (!result.shape().equals(given.shape())) {
            return "the result is broadcast to " + result.shape();
        }
        int steps = steps(op.before()) + op.parametersEnd() - op.operands() + steps(op.after());
        if (steps > FusedRows.MOST_STEPS) {
            return steps + " steps; it takes " + FusedRows.MOST_STEPS;
        }
        if (op.row() instanceof Reduce && !standAlone(inputs.subList(op.parametersEnd(), inputs.size()), result)) {
            return "operands after " + op.row().mnemonic() + " that are broadcast";
        }
        String words = FusedOperands.misfit(inputs.size(), 1, shape.rank());
        return words.isEmpty() ? misfit(allTypes(op, inputs, row)) : words;
    }

    private static String misfit(Stream<DType> types) {
        return types.filter(type -> !TypeCodes.has(type))
                .findFirst()
                .map(type -> "elements of " + type)
                .orElse("");
    }

    private static int steps(@Nullable Region region) {
        return region == null ? 0 : region.steps().size();
    }

    /** The types of all values in it. */
    private static Stream<DType> allTypes(RowRegion op, List<TensorType> inputs, TensorType row) {
        List<DType> given = inputs.stream().map(TensorType::dtype).toList();
        List<DType> all = new ArrayList<>(given);
        all.add(row.dtype());
        if (op.before() != null) {
            all.addAll(RegionProgram.types(op.before(), given.subList(0, op.operands())));
        }
        if (op.after() != null) {
            List<DType> later = new ArrayList<>(List.of(row.dtype()));
            later.addAll(given.subList(op.parametersEnd(), given.size()));
            all.addAll(RegionProgram.types(op.after(), later));
        }
        return all.stream();
    }

    /** Whether what is read after a reduction is one element, or one for each row. */
    private static boolean standAlone(List<TensorType> later, TensorType result) {
        return later.stream()
                .allMatch(type -> type.shape().elements() == 1 || type.shape().equals(result.shape()));
    }

    /** A region and the types that it reads. */
    private record Asked(RowRegion op, List<TensorType> inputs) {}

    /** The step of a node for which there is no {@link #refusal}. */
    public static GpuStep lower(RowRegion op, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        List<TensorType> inputs = types(node);
        FusedRows fused = context.shared(new Asked(op, inputs), FusedRows.class, () -> new FusedRows(op, inputs));
        FusedRows.Launch launch = fused.launch(context.kernels());
        int[] slots = Stream.concat(node.inputs().stream(), node.outputs().stream())
                .mapToInt(context::slot)
                .toArray();
        String tier = "row_fused of " + op.row().mnemonic() + " and " + fused.form() + ", "
                + launch.plan().reason();
        return new FusedRowsStep(launch, slots, context.stepNumber(), tier);
    }
}
