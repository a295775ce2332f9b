package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cpu.machine.RegionKernel;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What elementwise operations, single or fused, become whatever the sizes. Thread-safe.
 *
 * @param region the operations; of a single one, a region of it
 * @param types of the inputs, then of each instruction's result
 * @param kernels machine code by which operands are rows and which are numbers; empty for those that have none
 */
record ElementwiseForm(
        Region region,
        List<DType> types,
        List<TileProgram.Instruction> instructions,
        Map<RegionStep.Operands, Optional<RegionKernel>> kernels) {
    /** Operations and the types that they read. */
    private static final class Asked {
        private final Op op;
        private final DType[] types;

        Asked(Op op, DType[] types) {
            this.op = op;
            this.types = types;
        }

        @Override
        public int hashCode() {
            int steps = op instanceof Region region ? region.steps().size() : 1;
            return 31 * (31 * Arrays.hashCode(types) + op.getClass().hashCode()) + steps; // the rest is compared
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // plans of a model share most operations
        public boolean equals(@Nullable Object other) {
            return other instanceof Asked asked
                    && Arrays.equals(types, asked.types)
                    && (op == asked.op || op.equals(asked.op));
        }
    }

    /** The form of a node, made once for a model. */
    static ElementwiseForm of(Node node, CpuLoweringContext context) {
        DType[] types = new DType[node.inputs().size()];
        for (int i = 0; i < types.length; i++) {
            types[i] = node.input(i).dtype();
        }
        return context.lasting(new Asked(node.op(), types), ElementwiseForm.class, () -> of(node.op(), types));
    }

    private static ElementwiseForm of(Op op, DType[] inputs) {
        Region region = op instanceof Region given
                ? given
                : new Region(
                        List.of(new Region.Step(
                                (Elementwise) op,
                                IntStream.range(0, inputs.length).boxed().toList())),
                        List.of(0));
        List<DType> types = new ArrayList<>(List.of(inputs));
        List<TileProgram.Instruction> instructions = new ArrayList<>();
        for (Region.Step step : region.steps()) {
            List<DType> arguments = new ArrayList<>();
            for (int argument : step.arguments()) {
                arguments.add(types.get(argument));
            }
            DType first = arguments.get(step.op() instanceof Where ? 1 : 0);
            types.add(step.op().dtypes(arguments).getFirst());
            instructions.add(new TileProgram.Instruction(TileOp.of(step.op(), first), step.arguments()));
        }
        return new ElementwiseForm(region, List.copyOf(types), List.copyOf(instructions), new ConcurrentHashMap<>());
    }

    /** The values that the outputs are. */
    int[] results() {
        int inputs = types.size() - instructions.size();
        int[] results = new int[region.results().size()];
        for (int i = 0; i < results.length; i++) {
            results[i] = inputs + region.results().get(i);
        }
        return results;
    }

    /** The machine code for operands, made on first use; null for operands without any. */
    @Nullable
    RegionKernel kernel(RegionStep.Operands operands, Supplier<Optional<RegionKernel>> make) {
        Optional<RegionKernel> known = kernels.get(operands);
        if (known == null) {
            known = make.get();
            if (known.isPresent()) {
                kernels.put(operands, known);
            }
        }
        return known.orElse(null);
    }
}
