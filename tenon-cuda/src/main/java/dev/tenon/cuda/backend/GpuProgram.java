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
import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.schedule.StreamSchedule;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A plan as a list of steps over numbered slots. Immutable; shared by the sessions of its model. */
final class GpuProgram implements Program {
    /**
     * The steps, the node of each, and how they are cut into stretches.
     *
     * @param stretches cover the steps in order
     */
    record Work(List<Node> nodes, List<GpuStep> steps, List<Stretch> stretches) {}

    /** What a stream's steps use at most. */
    private record LaneNeeds(long workspaceBytes, long counterBytes, boolean cublas) {
        static LaneNeeds of(List<GpuStep> steps) {
            long workspace = 0;
            long counters = 0;
            boolean cublas = false;
            for (GpuStep step : steps) {
                workspace = Math.max(workspace, step.workspaceBytes());
                counters = Math.max(counters, step.counterBytes());
                cublas |= step.callsCublas();
            }
            return new LaneNeeds(workspace, counters, cublas);
        }
    }

    private final IoLayout io;
    private final Placement[] placements;
    private final long[] constants;
    private final Node[] nodes;
    private final GpuStep[] steps;
    private final long arenaBytes;
    private final String saved;
    private final CopyKernel.@Nullable Few inputCopies;
    private final List<Stretch> stretches;
    private final boolean recorded;
    private final List<LaneNeeds> lanes;
    private final ProgramResources resources;

    /**
     * Of what a planner made.
     *
     * @param placements by slot
     * @param constants by slot, the device address of a constant that is read
     * @param saved whether a saved plan was loaded, in words; empty where none was looked for
     * @param inputCopies for small inputs and results; null where each is a copy of its own
     * @param resources closed by the program
     */
    GpuProgram(
            IoLayout io,
            Placement[] placements,
            long[] constants,
            Work work,
            long arenaBytes,
            String saved,
            CopyKernel.@Nullable Few inputCopies,
            ProgramResources resources) {
        this.io = io;
        this.placements = placements;
        this.constants = constants;
        this.nodes = work.nodes().toArray(Node[]::new);
        this.steps = work.steps().toArray(GpuStep[]::new);
        this.arenaBytes = arenaBytes;
        this.saved = saved;
        this.inputCopies = inputCopies;
        this.stretches = work.stretches();
        this.recorded = stretches.stream().anyMatch(Stretch::recorded);
        this.lanes = lanes(work);
        this.resources = resources;
    }

    /** The first stream may run every step: a run that is observed goes step by step. */
    private static List<LaneNeeds> lanes(Work work) {
        List<List<GpuStep>> onLane = new ArrayList<>();
        for (Stretch stretch : work.stretches()) {
            int[] streams = stretch.streamOfSteps();
            for (int i = 0; i < streams.length; i++) {
                while (onLane.size() <= streams[i]) {
                    onLane.add(new ArrayList<>());
                }
                onLane.get(streams[i]).add(work.steps().get(stretch.from() + i));
            }
        }
        List<LaneNeeds> needs = new ArrayList<>();
        needs.add(LaneNeeds.of(work.steps()));
        for (int lane = 1; lane < onLane.size(); lane++) {
            needs.add(LaneNeeds.of(onLane.get(lane)));
        }
        return List.copyOf(needs);
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

    /** How many streams it runs on, 1 or more. */
    int lanes() {
        return lanes.size();
    }

    /** How many events its streams wait for in one stretch at most. */
    int marks() {
        return stretches.stream().mapToInt(Stretch::marks).max().orElse(0);
    }

    long kernelWorkspaceBytes(int lane) {
        return lanes.get(lane).workspaceBytes;
    }

    long counterBytes(int lane) {
        return lanes.get(lane).counterBytes;
    }

    /** Whether a step on the stream calls cuBLAS. */
    boolean callsCublas(int lane) {
        return lanes.get(lane).cublas;
    }

    /** Whether some of the work is to be recorded and can be. */
    boolean recorded() {
        return recorded;
    }

    /** All steps in order, cut where recording begins or ends. */
    List<Stretch> stretches() {
        return stretches;
    }

    /** Whether one recording holds all of its work. */
    boolean whole() {
        return stretches.size() == 1 && recorded;
    }

    /**
     * The device address of every slot.
     *
     * @param ends where inputs and results lie; null for the session's own memory
     */
    long[] addresses(long ioBase, long arenaBase, @Nullable Ends ends) {
        long[] addresses = new long[placements.length];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = switch (placements[i]) {
                case Placement.Input(int index) -> {
                    long own = ioBase + io.inputOffset(index);
                    yield ends == null ? own : ends.input(index, own);
                }
                case Placement.Output(int index) -> {
                    long own = ioBase + io.outputOffset(index);
                    yield ends == null ? own : ends.output(index, own);
                }
                case Placement.Arena(long offset, long _) -> arenaBase + offset;
                case Placement.Constant() -> constants[i];
            };
        }
        return addresses;
    }

    /** Enqueues every step. */
    void enqueue(LaneFrames frames) {
        for (Stretch stretch : stretches) {
            enqueue(frames, stretch);
        }
    }

    /** Enqueues the steps of a stretch, in order or by its schedule. */
    void enqueue(LaneFrames frames, Stretch stretch) {
        StreamSchedule schedule = stretch.schedule();
        if (schedule == null) {
            for (int i = stretch.from(); i < stretch.end(); i++) {
                enqueue(i, frames.first());
            }
            return;
        }
        frames.record(schedule.mark(StreamSchedule.START), 0);
        for (StreamSchedule.Entry entry : schedule.entries()) {
            for (int earlier : entry.waits()) {
                frames.await(schedule.mark(earlier), entry.stream());
            }
            enqueue(stretch.from() + entry.step(), frames.lane(entry.stream()));
            frames.record(schedule.mark(entry.step()), entry.stream());
        }
        for (int last : schedule.joins()) {
            frames.await(schedule.mark(last), 0);
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

    /** Copies small inputs and results; null where each is a copy of its own. */
    CopyKernel.@Nullable Few inputCopies() {
        return inputCopies;
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
        return io.bytes()
                + lanes.stream()
                        .mapToLong(lane -> lane.workspaceBytes + lane.counterBytes)
                        .sum();
    }

    @Override
    public List<StepReport> steps() {
        List<StepReport> reports = new ArrayList<>();
        for (int i = 0; i < steps.length; i++) {
            reports.add(report(i));
        }
        return reports;
    }

    private StepReport report(int step) {
        return StepReport.of(nodes[step], steps[step].tier(), steps[step].passedOver());
    }

    @Override
    public List<StepReport> hostSteps() {
        return IntStream.range(0, steps.length)
                .filter(i -> steps[i].tier().startsWith(StepReport.HOST_TIER))
                .mapToObj(this::report)
                .toList();
    }

    @Override
    public String saved() {
        return saved;
    }

    /** Gives back uploads that no other plan reads, host steps, and what sessions keep: addresses and recorded work. */
    @Override
    public void close() {
        resources.close();
    }
}
