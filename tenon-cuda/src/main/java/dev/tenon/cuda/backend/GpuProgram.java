package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.StepKernels;
import dev.tenon.cuda.lower.Frame;
import dev.tenon.cuda.lower.GpuLowering;
import dev.tenon.cuda.lower.LoweringContext;
import dev.tenon.cuda.lower.Step;
import dev.tenon.cuda.port.DeviceBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A plan as a list of steps over numbered slots. Immutable; shared by the sessions of its model. */
final class GpuProgram implements Program, LoweringContext {
    /** A value's place; a constant's data is uploaded only if a step reads it. */
    private static final class Slot {
        final Placement placement;
        final @Nullable ConstantData data;
        final boolean transposed;
        boolean read;

        Slot(Placement placement, @Nullable ConstantData data, boolean transposed) {
            this.placement = placement;
            this.data = data;
            this.transposed = transposed;
            this.read = transposed;
        }
    }

    private final GpuDevice device;
    private final GpuWeights weights;
    private final CompileOptions options;
    private final Map<Value, Integer> slotOf = new HashMap<>();
    private final Map<Value, Integer> transposedSlotOf = new HashMap<>();
    private final Placement[] placements;
    private final long[] constants;
    private final IoLayout io;
    private final Node[] nodes;
    private final Step[] steps;
    private final boolean recorded;
    private final long arenaBytes;
    private final long workspaceBytes;
    private final long counterBytes;
    private final List<Slot> slots = new ArrayList<>();
    private final List<StepKernels> stepKernels = new ArrayList<>();
    private int lowering;
    private String regionsRefused = "";

    GpuProgram(Plan plan, GpuWeights weights, GpuDevice device, CompileOptions options) {
        this.device = device;
        this.weights = weights;
        this.options = options;
        Graph graph = plan.graph();
        io = new IoLayout(
                graph.inputs().stream().map(Value::type).toList(),
                graph.outputs().values().stream().map(Value::type).toList());
        addSlots(plan);
        nodes = graph.nodes().stream()
                .filter(node -> !MemoryPlanner.isView(node.op()))
                .toArray(Node[]::new);
        steps = new Step[nodes.length];
        for (lowering = 0; lowering < steps.length; lowering++) {
            stepKernels.add(new StepKernels(device.modules()));
            steps[lowering] = lower(nodes[lowering]);
        }
        giveCode();
        recorded = options.execution() == Execution.GRAPH
                && steps.length > 0
                && Arrays.stream(steps).allMatch(Step::recordable);
        arenaBytes = plan.memory().arenaBytes();
        workspaceBytes =
                Arrays.stream(steps).mapToLong(Step::workspaceBytes).max().orElse(0);
        counterBytes = Arrays.stream(steps).mapToLong(Step::counterBytes).max().orElse(0);
        placements = slots.stream().map(slot -> slot.placement).toArray(Placement[]::new);
        constants = new long[placements.length];
        for (int i = 0; i < constants.length; i++) {
            Slot slot = slots.get(i);
            constants[i] = slot.read && slot.data != null ? weights.address(slot.data, slot.transposed) : 0;
        }
        slots.clear();
        stepKernels.clear();
    }

    /** Compiles and loads the kernels of all steps together; what nothing compiles here is made of kernels built ahead, or becomes a step of the host. */
    private void giveCode() {
        StepKernels.Loaded loaded = StepKernels.load(device.modules(), stepKernels);
        for (lowering = 0; lowering < steps.length; lowering++) {
            try {
                loaded.bind(stepKernels.get(lowering));
            } catch (UnsupportedException e) {
                steps[lowering] = withoutCompiler(nodes[lowering], e);
            } catch (TenonException e) {
                throw e.at(nodes[lowering].name());
            }
        }
    }

    private Step withoutCompiler(Node node, UnsupportedException why) {
        regionsRefused = String.valueOf(why.getMessage());
        StepKernels ahead = new StepKernels(device.modules());
        stepKernels.add(ahead);
        try {
            Step step = lower(node);
            StepKernels.load(device.modules(), List.of(ahead)).bind(ahead);
            return step;
        } catch (UnsupportedException e) {
            return onHost(node, e);
        } catch (TenonException e) {
            throw e.at(node.name());
        } finally {
            stepKernels.removeLast();
            regionsRefused = "";
        }
    }

    private Step lower(Node node) {
        try {
            return GpuLowering.lower(node, this);
        } catch (UnsupportedException e) {
            return onHost(node, e);
        } catch (TenonException e) {
            throw e.at(node.name());
        }
    }

    private Step onHost(Node node, UnsupportedException why) {
        try {
            return GpuLowering.onHost(node, this, String.valueOf(why.getMessage()));
        } catch (TenonException e) {
            throw e.at(node.name());
        }
    }

    private void addSlots(Plan plan) {
        Graph graph = plan.graph();
        List<Value> values = new ArrayList<>(graph.inputs());
        values.addAll(graph.constants());
        graph.nodes().forEach(node -> values.addAll(node.outputs()));
        for (Value value : values) {
            slotOf.put(value, slots.size());
            slots.add(
                    new Slot(plan.memory().of(value), MemoryPlanner.shown(value).constant(), false));
        }
    }

    @Override
    public int slot(Value value) {
        Integer slot = slotOf.get(value);
        if (slot == null) {
            throw new IllegalArgumentException(value + " is not of this plan");
        }
        slots.get(slot).read = true;
        return slot;
    }

    @Override
    public int transposedSlot(Value matrix) {
        return transposedSlotOf.computeIfAbsent(matrix, _ -> {
            slots.add(new Slot(new Placement.Constant(), matrix.constant(), true));
            return slots.size() - 1;
        });
    }

    @Override
    public Kernels kernels() {
        return stepKernels.getLast();
    }

    @Override
    public String regionsRefused() {
        return regionsRefused;
    }

    @Override
    public Precision precision() {
        return options.precision();
    }

    @Override
    public Blas blas() {
        return device.blas();
    }

    @Override
    public Program onHost(Plan plan, String reason) {
        return weights.onHost(plan, reason);
    }

    @Override
    public int stepNumber() {
        return lowering;
    }

    /** Where the constants lie: a step of the host may read a view of one. */
    List<DeviceBuffer> constantBuffers() {
        return weights.buffers();
    }

    IoLayout io() {
        return io;
    }

    long arenaBytes() {
        return arenaBytes;
    }

    long scratchBytes() {
        return workspaceBytes;
    }

    long counterBytes() {
        return counterBytes;
    }

    /** Whether the work is to be recorded and can be. */
    boolean recorded() {
        return recorded;
    }

    /** The device address of every slot. */
    long[] addresses(long ioBase, long arenaBase) {
        long[] addresses = new long[placements.length];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = switch (placements[i]) {
                case Placement.Input(int index) -> ioBase + io.inputOffset(index);
                case Placement.Output(int index) -> ioBase + io.outputOffset(index);
                case Placement.Arena(long offset, long _) -> arenaBase + offset;
                case Placement.Constant() -> constants[i];
            };
        }
        return addresses;
    }

    /** Enqueues every step. */
    void enqueue(Frame frame) {
        for (int i = 0; i < steps.length; i++) {
            try {
                steps[i].enqueue(frame);
            } catch (TenonException e) {
                throw e.at(nodes[i].name());
            }
        }
    }

    /** What a kernel reported, as an exception that names the node. */
    TenonException fault(int step, long value) {
        return new DataException(nodes[step].op().mnemonic() + ": " + steps[step].fault(value)).at(nodes[step].name());
    }

    @Override
    public Tensor[] run(Device.Context context, Tensor[] inputs) {
        return session(context).run(this, checked(inputs), false);
    }

    @Override
    public Tensor[] runOnDevice(Device.Context context, Tensor[] inputs) {
        return session(context).run(this, checked(inputs), true);
    }

    private static GpuSession session(Device.Context context) {
        if (context instanceof GpuSession own) {
            return own;
        }
        throw new InputException("the context was made by another device");
    }

    private Tensor[] checked(Tensor[] inputs) {
        if (inputs.length != io.inputs().size()) {
            throw new InputException("the plan takes " + io.inputs().size() + " input(s), got " + inputs.length);
        }
        for (int i = 0; i < inputs.length; i++) {
            if (!inputs[i].type().equals(io.inputs().get(i))) {
                throw new InputException(
                        "input " + i + " of the plan is " + io.inputs().get(i) + ", got " + inputs[i].type());
            }
        }
        return inputs;
    }

    @Override
    public long workspaceBytes() {
        return io.bytes() + workspaceBytes + counterBytes;
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
