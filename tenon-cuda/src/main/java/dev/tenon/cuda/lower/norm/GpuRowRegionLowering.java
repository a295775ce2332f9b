package dev.tenon.cuda.lower.norm;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.cuda.kernel.FusedRows;
import dev.tenon.cuda.kernel.FusedRowsLaunch;
import dev.tenon.cuda.lower.elementwise.GpuElementwiseLowering;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.RegionForm;
import dev.tenon.cuda.port.KernelArguments;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Row regions: a kernel compiled for each. */
public final class GpuRowRegionLowering {
    private GpuRowRegionLowering() {}

    /** One launch of a compiled row region. */
    private static final class FusedRowsStep implements GpuStep {
        private final FusedRowsLaunch launch;
        private final int[] slots;
        private final int number;
        private final String tier;

        /** @param slots of the inputs and after them of the output */
        FusedRowsStep(FusedRowsLaunch launch, int[] slots, int number, String tier) {
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
        List<TensorType> inputs = node.inputs().stream().map(Value::type).toList();
        TensorType result = node.output().type();
        return Stream.concat(inputs.stream(), Stream.of(result))
                        .allMatch(type -> type.shape().isConcrete())
                && elements(op, inputs) > 0
                && RegionForm.asked().notCompiled(elements(op, inputs), true).isEmpty()
                && FusedRows.misfit(op, inputs, result).isEmpty()
                && (RegionForm.asked() == RegionForm.COMPILED || RowRegionTime.pays(op, inputs, result));
    }

    private static long elements(RowRegion op, List<TensorType> inputs) {
        return FusedRows.row(op, inputs).shape().elements();
    }

    /** Why a node is run part by part, though it was claimed; empty where it is not. */
    public static String refusal(RowRegion op, Node node, GpuLoweringContext context) {
        List<TensorType> inputs = node.inputs().stream().map(Value::type).toList();
        if (elements(op, inputs) == 0 && node.output().shape().elements() > 0) {
            return "rows without elements";
        }
        String reason = context.regions().notCompiled(elements(op, inputs), false);
        if (reason.isEmpty()) {
            reason = FusedRows.misfit(op, inputs, node.output().type());
        }
        return reason.isEmpty() ? context.compilerRefused() : reason; // kernels built ahead, and no compiler
    }

    /** The step of a node for which there is no {@link #refusal}. */
    public static GpuStep lower(RowRegion op, Node node, GpuLoweringContext context) {
        List<TensorType> inputs = node.inputs().stream().map(Value::type).toList();
        TensorType result = node.output().type();
        if (result.shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        FusedRows fused = new FusedRows(op, inputs, result);
        FusedRowsLaunch launch = fused.launch(context.kernels());
        int[] slots = IntStream.concat(
                        node.inputs().stream().mapToInt(context::slot), IntStream.of(context.slot(node.output())))
                .toArray();
        return new FusedRowsStep(
                launch,
                slots,
                context.stepNumber(),
                "row_fused of " + op.row().mnemonic() + " and " + fused.form() + ", "
                        + launch.plan().reason());
    }
}
