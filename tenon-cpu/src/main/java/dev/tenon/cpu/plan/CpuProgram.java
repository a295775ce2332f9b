package dev.tenon.cpu.plan;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.backend.RunObserver;
import dev.tenon.core.backend.Signature;
import dev.tenon.core.backend.Slots;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.Node;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cpu.loops.WarmUp;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.WorkerPool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A plan as a list of steps over numbered slots. Immutable; a run allocates its output tensors and, in steps of rare
 * operations, some rows for each piece of work.
 */
public final class CpuProgram implements Program {
    /**
     * Where a slot's memory comes from, and how much of it is the value's: views share memory and may be shorter.
     *
     * @param constant the memory of a constant that is read as it is; else {@link MemorySegment#NULL}
     */
    record Place(Placement placement, long bytes, MemorySegment constant) {}

    /** The steps, and the node of each. */
    record Work(List<Node> nodes, List<CpuStep> steps) {
        long workspaceBytes() {
            long most = 0;
            for (CpuStep step : steps) {
                most = Math.max(most, step.workspaceBytes());
            }
            return Math.ceilDiv(most, 64L) * 64;
        }
    }

    private final Signature signature;
    private final CpuWeights.ForPlan weights;
    private final Place[] places;
    /** The slots that hold input i or output i: the value's own and its views'. */
    private final int[][] inputSlots;

    private final int[][] outputSlots;
    private final CpuStep[] steps;
    private final Node[] nodes;
    private final long arenaBytes;
    private final long workspaceBytes;
    private final int threads;

    /** @param weights closed by the program */
    CpuProgram(
            Signature signature,
            List<Place> places,
            Slots slots,
            Work work,
            long arenaBytes,
            int threads,
            CpuWeights.ForPlan weights) {
        this.signature = signature;
        this.weights = weights;
        this.places = places.toArray(Place[]::new);
        this.inputSlots = slots.inputs(signature.inputs().size());
        this.outputSlots = slots.outputs(signature.outputs().size());
        this.steps = work.steps().toArray(CpuStep[]::new);
        this.nodes = work.nodes().toArray(Node[]::new);
        this.arenaBytes = arenaBytes;
        this.workspaceBytes = work.workspaceBytes();
        this.threads = threads;
    }

    /**
     * Every slot is a slice of exactly its value's bytes, so that a kernel that runs past it fails with an exception
     * and not with the JVM.
     */
    CpuFrame newFrame(MemorySegment arena, MemorySegment[] workspace, WorkerPool workers) {
        MemorySegment[] memory = new MemorySegment[places.length];
        for (int i = 0; i < memory.length; i++) {
            Place place = places[i];
            memory[i] = switch (place.placement()) {
                case Placement.Arena(long offset, long _) -> arena.asSlice(offset, place.bytes());
                case Placement.Constant() ->
                    place.constant().byteSize() == 0
                            ? MemorySegment.NULL
                            : place.constant().asSlice(0, place.bytes());
                case Placement.Input(int _), Placement.Output(int _) -> MemorySegment.NULL;
            };
        }
        return new CpuFrame(memory, workspace, workers);
    }

    @Override
    public Tensor[] run(Device.State context, Tensor[] inputs) {
        Tensor[] outputs = new Tensor[outputSlots.length];
        for (int i = 0; i < outputs.length; i++) {
            outputs[i] = Tensor.zeros(signature.outputs().get(i));
        }
        runInTurn(context, inputs, outputs);
        return outputs;
    }

    private void runInTurn(Device.State context, Tensor[] inputs, Tensor[] outputs) {
        if (!(context instanceof CpuContext own)) {
            throw new InputException("the context was made by another device");
        }
        own.enter();
        try {
            run(frame(own, inputs), outputs);
        } finally {
            own.leave();
        }
    }

    private CpuFrame frame(CpuContext own, Tensor[] inputs) {
        CpuFrame frame = own.frame(this);
        RunObserver observer = own.observer();
        long start = observer == null ? 0 : System.nanoTime();
        bindInputs(own, frame, inputs);
        if (observer != null) {
            observer.span("host", "inputs", start, System.nanoTime());
        }
        frame.observe(observer);
        return frame;
    }

    /**
     * Where kernels cannot write a given output where it lies, or write it while an input is still read from there, the
     * run gets memory of its own.
     */
    @Override
    public void runInto(Device.State context, Tensor[] inputs, Tensor[] outputs) {
        boolean direct = true;
        for (Tensor output : outputs) {
            direct &= CpuWeights.isUsable(output.segment());
            for (Tensor input : inputs) {
                direct &= output.segment().asOverlappingSlice(input.segment()).isEmpty();
            }
        }
        if (!direct) {
            Program.super.runInto(context, inputs, outputs);
            return;
        }
        runInTurn(context, inputs, outputs);
    }

    /** Runs the steps with inputs bound, into given outputs. */
    public void run(CpuFrame frame, Tensor[] outputs) {
        for (int i = 0; i < outputs.length; i++) {
            bind(frame, outputSlots[i], outputs[i].segment());
        }
        WarmUp.programBegins();
        try {
            RunObserver observer = frame.observer();
            if (observer == null) {
                for (int i = 0; i < steps.length; i++) {
                    runStep(frame, i);
                }
            } else {
                runObserved(frame, observer);
            }
        } finally {
            WarmUp.programEnds();
            unbind(frame, inputSlots);
            unbind(frame, outputSlots);
        }
    }

    private void runObserved(CpuFrame frame, RunObserver observer) {
        for (int i = 0; i < steps.length; i++) {
            long start = System.nanoTime();
            runStep(frame, i);
            observer.step(this, i, "cpu", start, System.nanoTime());
        }
    }

    private void runStep(CpuFrame frame, int index) {
        try {
            steps[index].run(frame);
        } catch (TenonException e) {
            throw nodes[index].fault(e);
        }
    }

    /** Inputs that kernels cannot read where they lie (on the heap, mapped, confined to this thread) are copied. */
    public void bindInputs(CpuContext context, CpuFrame frame, Tensor[] inputs) {
        signature.check(inputs);
        long staged = 0;
        for (Tensor input : inputs) {
            if (!CpuWeights.isUsable(input.segment())) {
                staged += Math.ceilDiv(input.byteSize(), 64L) * 64;
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

    private void bind(CpuFrame frame, int[] targets, MemorySegment segment) {
        for (int slot : targets) {
            long bytes = places[slot].bytes();
            frame.bind(slot, bytes == segment.byteSize() ? segment : segment.asSlice(0, bytes));
        }
    }

    private static void unbind(CpuFrame frame, int[][] all) {
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
        return workspaceBytes * threads;
    }

    @Override
    public List<StepReport> steps() {
        List<StepReport> reports = new ArrayList<>();
        for (int i = 0; i < steps.length; i++) {
            reports.add(StepReport.of(nodes[i], steps[i].tier(), steps[i].passedOver()));
        }
        return reports;
    }

    @Override
    public List<StepReport> hostSteps() {
        return List.of();
    }

    /** Frees the prepared constants that no other plan reads. */
    @Override
    public void close() {
        weights.close();
    }
}
