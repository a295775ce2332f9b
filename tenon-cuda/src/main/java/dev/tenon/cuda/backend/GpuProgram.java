package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.Node;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;

/** A plan as a list of steps over numbered slots. Immutable; shared by the sessions of its model. */
final class GpuProgram implements Program {
    /** The steps, and the node of each. */
    record Work(List<Node> nodes, List<GpuStep> steps) {
        private long most(ToLongFunction<GpuStep> bytes) {
            return steps.stream().mapToLong(bytes).max().orElse(0);
        }
    }

    private final IoLayout io;
    private final Placement[] placements;
    private final long[] constants;
    private final Node[] nodes;
    private final GpuStep[] steps;
    private final long arenaBytes;
    private final List<Stretch> stretches;
    private final boolean recorded;
    private final long workspaceBytes;
    private final long counterBytes;
    private final ProgramResources resources;

    /**
     * Of what a planner made.
     *
     * @param placements by slot
     * @param constants by slot, the device address of a constant that is read
     * @param record whether to record what can be
     * @param resources closed by the program
     */
    GpuProgram(
            IoLayout io,
            Placement[] placements,
            long[] constants,
            Work work,
            long arenaBytes,
            boolean record,
            ProgramResources resources) {
        this.io = io;
        this.placements = placements;
        this.constants = constants;
        this.nodes = work.nodes().toArray(Node[]::new);
        this.steps = work.steps().toArray(GpuStep[]::new);
        this.arenaBytes = arenaBytes;
        this.stretches = record ? stretches(steps) : List.of();
        this.recorded = stretches.stream().anyMatch(Stretch::recorded);
        this.workspaceBytes = work.most(GpuStep::workspaceBytes);
        this.counterBytes = work.most(GpuStep::counterBytes);
        this.resources = resources;
    }

    /** What it holds until it is closed. */
    ProgramResources resources() {
        return resources;
    }

    IoLayout io() {
        return io;
    }

    long arenaBytes() {
        return arenaBytes;
    }

    long kernelWorkspaceBytes() {
        return workspaceBytes;
    }

    long counterBytes() {
        return counterBytes;
    }

    /** Whether a step calls cuBLAS. */
    boolean callsCublas() {
        return Arrays.stream(steps).anyMatch(GpuStep::callsCublas);
    }

    /** Whether some of the work is to be recorded and can be. */
    boolean recorded() {
        return recorded;
    }

    /** What is recorded and what is not, in order; nothing where nothing is to be recorded. */
    List<Stretch> stretches() {
        return stretches;
    }

    /**
     * Steps one behind the other that are alike in whether they can be recorded.
     *
     * @param end the step behind the last
     * @param recorded whether they are: a single step is launched as fast by itself, unless it is all that there is
     */
    record Stretch(int from, int end, boolean recorded) {}

    private static List<Stretch> stretches(GpuStep[] steps) {
        List<Stretch> stretches = new ArrayList<>();
        int from = 0;
        while (from < steps.length) {
            boolean recordable = steps[from].recordable();
            int end = from + 1;
            while (end < steps.length && steps[end].recordable() == recordable) {
                end++;
            }
            stretches.add(new Stretch(from, end, recordable && (end - from > 1 || steps.length == 1)));
            from = end;
        }
        return List.copyOf(stretches);
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
    void enqueue(GpuFrame frame) {
        for (int i = 0; i < steps.length; i++) {
            enqueue(i, frame);
        }
    }

    /** Enqueues the steps of a stretch. */
    void enqueue(GpuFrame frame, Stretch stretch) {
        for (int i = stretch.from(); i < stretch.end(); i++) {
            enqueue(i, frame);
        }
    }

    /** Enqueues every step, and a mark behind each. */
    void enqueue(GpuFrame frame, RunTimeline timeline) {
        for (int i = 0; i < steps.length; i++) {
            enqueue(i, frame);
            timeline.mark();
        }
    }

    private void enqueue(int step, GpuFrame frame) {
        long range = StepRanges.begin(nodes[step]);
        try {
            steps[step].enqueue(frame);
        } catch (TenonException e) {
            throw nodes[step].fault(e);
        } finally {
            StepRanges.end(range);
        }
    }

    /** What a kernel reported, as an exception that names the node. */
    TenonException fault(int step, long value) {
        return new DataException(nodes[step].op().mnemonic() + ": " + steps[step].fault(value)).at(nodes[step].name());
    }

    @Override
    public Tensor[] run(Device.State context, Tensor[] inputs) {
        return session(context).run(this, checked(inputs), false);
    }

    @Override
    public Tensor[] runOnDevice(Device.State context, Tensor[] inputs) {
        return session(context).run(this, checked(inputs), true);
    }

    private static GpuSession session(Device.State context) {
        if (context instanceof GpuSession own) {
            return own;
        }
        throw new InputException("the context was made by another device");
    }

    private Tensor[] checked(Tensor[] inputs) {
        io.signature().check(inputs);
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

    /** Gives back uploads that no other plan reads, host steps, and what sessions keep: addresses and recorded work. */
    @Override
    public void close() {
        resources.close();
    }
}
