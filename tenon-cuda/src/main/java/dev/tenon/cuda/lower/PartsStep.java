package dev.tenon.cuda.lower;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.Workspace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/**
 * A claimed composite whose own kernel cannot be made: the steps of what it decomposes into, with what passes between
 * them in the workspace. Immutable.
 */
final class PartsStep implements GpuStep {
    private final List<GpuStep> steps;
    /** Slots of the node's operands and results. */
    private final int[] slots;
    /** Where what passes between the steps lies in the workspace. */
    private final long[] between;

    private final long own;
    private final String reason;
    private final LongFunction<String> faults;

    private PartsStep(
            List<GpuStep> steps, int[] slots, long[] between, long own, String reason, LongFunction<String> faults) {
        this.steps = List.copyOf(steps);
        this.slots = slots;
        this.between = between;
        this.own = own;
        this.reason = reason;
        this.faults = faults;
    }

    /**
     * The steps in order, or why one of them has no kernel.
     *
     * @param reason why the node's own kernel cannot be made
     * @param faults what a value means that one of the steps reports: all report by the number of the node
     */
    static Lowered lower(
            Composite op, Node node, GpuLoweringContext context, String reason, LongFunction<String> faults) {
        GraphBuilder builder = new GraphBuilder(node.name());
        List<Value> operands = new ArrayList<>();
        for (Value input : node.inputs()) {
            operands.add(builder.input("in" + operands.size(), input.type()));
        }
        List<Value> results = op.decompose(builder, operands);
        for (int i = 0; i < results.size(); i++) {
            builder.output("out" + i, results.get(i));
        }
        Graph graph = builder.build();
        Map<Value, Integer> numbers = new HashMap<>();
        operands.forEach(value -> numbers.put(value, numbers.size()));
        results.forEach(value -> numbers.put(value, numbers.size()));
        int[] slots = new int[numbers.size()];
        for (int i = 0; i < slots.length; i++) {
            int inputs = node.inputs().size();
            slots[i] = context.slot(i < inputs ? node.input(i) : node.outputs().get(i - inputs));
        }
        Workspace workspace = new Workspace();
        List<Long> between = new ArrayList<>();
        List<GpuStep> steps = new ArrayList<>();
        for (Node part : graph.nodes()) {
            Integer place = MemoryPlanner.isView(part.op()) ? numbers.get(part.input(0)) : null;
            if (place != null && !numbers.containsKey(part.output())) {
                numbers.put(part.output(), place);
                continue;
            }
            for (Value value : part.outputs()) {
                if (!numbers.containsKey(value)) {
                    numbers.put(value, numbers.size());
                    between.add(workspace.take(value.type().bytes()));
                }
            }
            switch (GpuLowering.lower(part, new NumberedContext(context, numbers))) {
                case GpuStep step -> steps.add(step);
                case NoKernel none -> {
                    return none;
                }
            }
        }
        long[] offsets = between.stream().mapToLong(Long::longValue).toArray();
        return new PartsStep(steps, slots, offsets, workspace.bytes(), reason, faults);
    }

    @Override
    public void enqueue(GpuFrame frame) {
        long[] addresses = new long[slots.length + between.length];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = i < slots.length ? frame.at(slots[i]) : frame.workspace() + between[i - slots.length];
        }
        GpuFrame part = frame.over(addresses, frame.workspace() + own);
        steps.forEach(step -> step.enqueue(part));
    }

    @Override
    public String tier() {
        return steps.stream().map(GpuStep::tier).collect(Collectors.joining("; "));
    }

    @Override
    public List<String> passedOver() {
        List<String> all = new ArrayList<>(List.of(reason));
        steps.forEach(step -> all.addAll(step.passedOver()));
        return all;
    }

    @Override
    public String fault(long value) {
        return faults.apply(value);
    }

    @Override
    public boolean recordable() {
        return steps.stream().allMatch(GpuStep::recordable);
    }

    @Override
    public boolean callsCublas() {
        return steps.stream().anyMatch(GpuStep::callsCublas);
    }

    @Override
    public long workspaceBytes() {
        return own + steps.stream().mapToLong(GpuStep::workspaceBytes).max().orElse(0);
    }

    @Override
    public long counterBytes() {
        return steps.stream().mapToLong(GpuStep::counterBytes).max().orElse(0);
    }
}
