package dev.tenon.cpu.plan;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cpu.matmul.MatMulLowering;
import dev.tenon.cpu.step.Frame;
import dev.tenon.cpu.step.LoweringContext;
import dev.tenon.cpu.step.Step;
import dev.tenon.cpu.step.UnitStep;
import dev.tenon.cpu.step.WorkerPool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** A plan as a list of steps over numbered slots. Immutable; a run allocates its output tensors and, but for steps by definition ({@link UnitStep}), nothing else. */
public final class CpuProgram implements Program, LoweringContext {
    /** Where a slot's memory comes from, and how much of it is the value's: views share memory and may be shorter. */
    private record Slot(Placement placement, TensorType type, MemorySegment constant) {
        long bytes() {
            return type.bytes();
        }
    }

    private final List<Slot> slots = new ArrayList<>();
    private final Map<Value, Integer> slotOf = new HashMap<>();
    private final CpuWeights weights;
    private final WorkerPool pool;
    private final TensorType[] inputTypes;
    private final TensorType[] outputTypes;
    /** The slots that hold input i or output i: the value's own and its views'. */
    private final int[][] inputSlots;

    private final int[][] outputSlots;
    private final Step[] steps;
    private final Node[] nodes;
    private final long arenaBytes;
    private final long scratchBytes;

    public CpuProgram(Plan plan, CpuWeights weights, WorkerPool pool) {
        this.weights = weights;
        this.pool = pool;
        Graph graph = plan.graph();
        inputTypes = types(graph.inputs());
        outputTypes = types(List.copyOf(graph.outputs().values()));
        addSlots(plan);
        inputSlots = new int[inputTypes.length][];
        for (int i = 0; i < inputSlots.length; i++) {
            inputSlots[i] = slotsAt(new Placement.Input(i));
        }
        outputSlots = new int[outputTypes.length][];
        for (int i = 0; i < outputSlots.length; i++) {
            outputSlots[i] = slotsAt(new Placement.Output(i));
        }
        List<Node> run = graph.nodes().stream()
                .filter(node -> !MemoryPlanner.isView(node.op()))
                .toList();
        nodes = run.toArray(Node[]::new);
        steps = new Step[nodes.length];
        long most = 0;
        for (int i = 0; i < steps.length; i++) {
            try {
                steps[i] = CpuLowering.lower(nodes[i], this);
            } catch (TenonException e) {
                throw e.at(nodes[i].name());
            }
            most = Math.max(most, steps[i].scratchBytes());
        }
        arenaBytes = plan.memory().arenaBytes();
        scratchBytes = Math.ceilDiv(most, 64L) * 64;
    }

    private static TensorType[] types(List<Value> values) {
        return values.stream().map(Value::type).toArray(TensorType[]::new);
    }

    private void addSlots(Plan plan) {
        Graph graph = plan.graph();
        List<Value> values = new ArrayList<>(graph.inputs());
        values.addAll(graph.constants());
        graph.nodes().forEach(node -> values.addAll(node.outputs()));
        Set<Value> read = readAsTheyAre(graph);
        for (Value value : values) {
            Placement placement = plan.memory().of(value);
            MemorySegment constant = read.contains(MemoryPlanner.shown(value))
                            && MemoryPlanner.shown(value).origin() instanceof Value.Origin.Constant(ConstantData data)
                    ? weights.dense(data)
                    : MemorySegment.NULL;
            slotOf.put(value, slots.size());
            slots.add(new Slot(placement, value.type(), constant));
        }
    }

    /** The values that some step reads in their own form; a weight that is only multiplied exists in panels alone. */
    private static Set<Value> readAsTheyAre(Graph graph) {
        Set<Value> read = new HashSet<>();
        for (Node node : graph.nodes()) {
            for (int i = 0; i < node.inputs().size() && !MemoryPlanner.isView(node.op()); i++) {
                if (!MatMulLowering.packs(node, i)) {
                    read.add(MemoryPlanner.shown(node.input(i)));
                }
            }
        }
        return read;
    }

    private int[] slotsAt(Placement placement) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < slots.size(); i++) {
            if (slots.get(i).placement().equals(placement)) {
                found.add(i);
            }
        }
        return found.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public int slot(Value value) {
        Integer slot = slotOf.get(value);
        if (slot == null) {
            throw new IllegalArgumentException(value + " is not of this plan");
        }
        return slot;
    }

    @Override
    public MemorySegment prepared(ConstantData data, String layout, Function<ConstantData, Prepared> make) {
        return weights.prepared(data, layout, make);
    }

    @Override
    public int threads() {
        return pool.threads();
    }

    /** Every slot is a slice of exactly its value's bytes, so that a kernel that runs past it fails with an exception and not with the JVM. */
    Frame newFrame(MemorySegment arena, MemorySegment[] scratch, WorkerPool workers) {
        MemorySegment[] memory = new MemorySegment[slots.size()];
        for (int i = 0; i < memory.length; i++) {
            Slot slot = slots.get(i);
            memory[i] = switch (slot.placement()) {
                case Placement.Arena(long offset, long _) -> arena.asSlice(offset, slot.bytes());
                case Placement.Constant() ->
                    slot.constant().byteSize() == 0
                            ? MemorySegment.NULL
                            : slot.constant().asSlice(0, slot.bytes());
                case Placement.Input(int _), Placement.Output(int _) -> MemorySegment.NULL;
            };
        }
        return new Frame(memory, scratch, workers);
    }

    @Override
    public Tensor[] run(Device.Context context, Tensor[] inputs) {
        if (!(context instanceof CpuContext own)) {
            throw new InputException("the context was made by another device");
        }
        Frame frame = own.frame(this);
        bindInputs(own, frame, inputs);
        Tensor[] outputs = new Tensor[outputTypes.length];
        for (int i = 0; i < outputs.length; i++) {
            outputs[i] = Tensor.zeros(outputTypes[i]);
        }
        run(frame, outputs);
        return outputs;
    }

    /** Runs the steps with inputs bound, into given outputs. */
    public void run(Frame frame, Tensor[] outputs) {
        for (int i = 0; i < outputs.length; i++) {
            bind(frame, outputSlots[i], outputs[i].segment());
        }
        try {
            for (int i = 0; i < steps.length; i++) {
                runStep(frame, i);
            }
        } finally {
            unbind(frame, inputSlots);
            unbind(frame, outputSlots);
        }
    }

    private void runStep(Frame frame, int index) {
        try {
            steps[index].run(frame);
        } catch (TenonException e) {
            throw e.at(nodes[index].name());
        }
    }

    /** Inputs that kernels cannot read where they lie (on the heap, mapped, confined to this thread) are copied. */
    public void bindInputs(CpuContext context, Frame frame, Tensor[] inputs) {
        if (inputs.length != inputTypes.length) {
            throw new InputException("the plan takes " + inputTypes.length + " input(s), got " + inputs.length);
        }
        long staged = 0;
        for (int i = 0; i < inputs.length; i++) {
            if (!inputs[i].type().equals(inputTypes[i])) {
                throw new InputException(
                        "input " + i + " of the plan is " + inputTypes[i] + ", got " + inputs[i].type());
            }
            if (!CpuWeights.isUsable(inputs[i].segment())) {
                staged += Math.ceilDiv(inputs[i].byteSize(), 64L) * 64;
            }
        }
        MemorySegment staging = staged > 0 ? context.staging(staged) : MemorySegment.NULL;
        long offset = 0;
        for (int i = 0; i < inputs.length; i++) {
            MemorySegment segment = inputs[i].segment();
            if (!CpuWeights.isUsable(segment)) {
                MemorySegment copy = staging.asSlice(offset, segment.byteSize());
                copy.copyFrom(segment);
                offset += Math.ceilDiv(segment.byteSize(), 64L) * 64;
                segment = copy;
            }
            bind(frame, inputSlots[i], segment);
        }
    }

    private void bind(Frame frame, int[] targets, MemorySegment segment) {
        for (int slot : targets) {
            long bytes = slots.get(slot).bytes();
            frame.bind(slot, bytes == segment.byteSize() ? segment : segment.asSlice(0, bytes));
        }
    }

    private static void unbind(Frame frame, int[][] all) {
        for (int[] targets : all) {
            for (int slot : targets) {
                frame.bind(slot, MemorySegment.NULL);
            }
        }
    }

    long arenaBytes() {
        return arenaBytes;
    }

    @Override
    public long workspaceBytes() {
        return scratchBytes * pool.threads();
    }

    @Override
    public List<StepReport> steps() {
        List<StepReport> reports = new ArrayList<>();
        for (int i = 0; i < steps.length; i++) {
            reports.add(StepReport.of(nodes[i], steps[i].tier(), steps[i].passedOver()));
        }
        return reports;
    }
}
