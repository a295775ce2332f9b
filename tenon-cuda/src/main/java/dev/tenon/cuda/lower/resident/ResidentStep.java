package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.Value;
import dev.tenon.cuda.kernel.EncoderCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.lower.resident.ResidentPhase.Kind;
import dev.tenon.cuda.lower.resident.ResidentPhase.Operands;
import dev.tenon.cuda.lower.resident.ResidentPlan.Spread;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/** A segment's launches, one for up to 30 phases. Values that nothing else reads lie in its workspace. Immutable. */
public final class ResidentStep implements GpuStep {
    private static final int COUNTERS = 2;

    private record Launch(ResidentWords words, int phases, int first) {}

    private final Kernel kernel;
    private final LaunchShape shape;
    private final ResidentPlan plan;
    private final List<Launch> launches;
    private final String tier;
    private final long workspaceBytes;

    private ResidentStep(
            Kernel kernel, ResidentSegment segment, ResidentPlan plan, List<Launch> launches, long workspaceBytes) {
        this.kernel = kernel;
        this.plan = plan;
        this.launches = List.copyOf(launches);
        this.workspaceBytes = workspaceBytes;
        this.shape = LaunchShape.of(plan.blocks(), ResidentPlan.WARPS * 32)
                .withSharedBytes(plan.sharedBytes())
                .withCooperative();
        this.tier = "resident: " + segment.members().size() + " steps in "
                + segment.phases().size() + " phases"
                + (launches.size() > 1 ? ", " + launches.size() + " launches" : "") + ", " + plan.blocks()
                + " blocks";
    }

    /** The step of a segment that the device takes. */
    static ResidentStep of(ResidentSegment segment, ResidentPlan plan, GpuLoweringContext context) {
        Kernel kernel = context.kernels()
                .kernel(
                        EncoderCatalog.RESIDENT,
                        "resident",
                        EncoderCatalog.resident(segment.dtype(), segment.head()),
                        plan.sharedBytes());
        Memory memory = new Memory(segment, context);
        List<Launch> launches = new ArrayList<>();
        List<ResidentPhase> phases = segment.phases();
        for (int from = 0; from < phases.size(); from += ResidentPlan.MOST_PHASES) {
            int end = Math.min(phases.size(), from + ResidentPlan.MOST_PHASES);
            launches.add(launch(phases.subList(from, end), plan.spreads().subList(from, end), memory));
        }
        return new ResidentStep(kernel, segment, plan, launches, memory.workspace.bytes());
    }

    private static Launch launch(List<ResidentPhase> phases, List<Spread> spreads, Memory memory) {
        Set<Value> read = new HashSet<>();
        Set<Value> made = new HashSet<>();
        for (ResidentPhase phase : phases) {
            read.add(phase.at().x());
            Stream.ofNullable(phase.at().residual()).forEach(read::add);
            made.add(phase.at().y());
            Stream.ofNullable(phase.at().normed()).forEach(made::add);
        }
        ResidentWords words = new ResidentWords();
        for (int i = 0; i < phases.size(); i++) {
            Operands at = phases.get(i).at();
            int flags = (made.contains(at.x()) ? ResidentWords.MADE_X : 0)
                    | (at.residual() != null && made.contains(at.residual()) ? ResidentWords.MADE_RESIDUAL : 0)
                    | (read.contains(at.y()) ? ResidentWords.SEEN_Y : 0)
                    | (at.normed() != null && read.contains(at.normed()) ? ResidentWords.SEEN_NORMED : 0);
            words.add(phases.get(i), spreads.get(i), flags, fetching(phases, i + 1), memory);
        }
        return new Launch(words, phases.size(), fetching(phases, 0));
    }

    /** The first phase from one on that fetches ahead what no phase makes; -1 for none. */
    private static int fetching(List<ResidentPhase> phases, int from) {
        for (int i = from; i < phases.size(); i++) {
            if (phases.get(i).kind() != Kind.ATTENTION) {
                return i;
            }
        }
        return -1;
    }

    /** Places values: those that nothing else reads in the workspace, for as long as phases read them. */
    private static final class Memory implements ResidentWords.Places {
        private final GpuLoweringContext context;
        private final Workspace workspace = new Workspace();
        private final Map<Value, Long> offsets = new HashMap<>();

        Memory(ResidentSegment segment, GpuLoweringContext context) {
            this.context = context;
            List<ResidentPhase> phases = segment.phases();
            Map<Value, Integer> last = new HashMap<>();
            Set<Value> released = new HashSet<>();
            for (int i = 0; i < phases.size(); i++) {
                int phase = i;
                values(phases.get(i).at()).forEach(value -> last.put(value, phase));
            }
            for (int i = 0; i < phases.size(); i++) {
                List<Value> all = values(phases.get(i).at())
                        .distinct()
                        .filter(segment.inside()::contains)
                        .toList();
                for (Value value : all) {
                    offsets.computeIfAbsent(value, made -> workspace.take(bytes(made)));
                }
                if ((i + 1) % ResidentPlan.MOST_PHASES != 0) {
                    continue; // no two values of a launch lie in the same place: its blocks do not meet
                }
                for (Value value : Set.copyOf(offsets.keySet())) {
                    if (last.getOrDefault(value, 0) <= i && released.add(value)) {
                        workspace.release(Objects.requireNonNull(offsets.get(value)), bytes(value));
                    }
                }
            }
        }

        private static long bytes(Value value) {
            return value.dtype().bytesFor(value.shape().elements());
        }

        private static Stream<Value> values(Operands at) {
            return Stream.of(
                            Stream.of(at.x(), at.y()),
                            Stream.ofNullable(at.bias()),
                            Stream.ofNullable(at.residual()),
                            Stream.ofNullable(at.scale()),
                            Stream.ofNullable(at.shift()),
                            Stream.ofNullable(at.normed()))
                    .flatMap(each -> each);
        }

        @Override
        public ResidentWords.Place of(Value value) {
            Long offset = offsets.get(value);
            return offset == null
                    ? new ResidentWords.Place.Slot(context.slot(value))
                    : new ResidentWords.Place.Workspace(offset);
        }

        @Override
        public ResidentWords.Place of(ResidentPhase.Weight weight) {
            return new ResidentWords.Place.Slot(
                    weight.transposed() ? context.transposedSlot(weight.value()) : context.slot(weight.value()));
        }
    }

    @Override
    public void enqueue(GpuFrame frame) {
        for (Launch launch : launches) {
            frame.stream()
                    .launch(
                            kernel.function(),
                            shape,
                            launch.words
                                    .fill(frame.arguments().clear(), frame)
                                    .add(launch.phases)
                                    .add(launch.first)
                                    .add(plan.parts())
                                    .add(plan.affine())
                                    .add(plan.cells())
                                    .add(plan.weights())
                                    .add(plan.half())
                                    .add(frame.counters()));
        }
    }

    @Override
    public String tier() {
        return tier;
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }

    @Override
    public long counterBytes() {
        return (long) COUNTERS * Integer.BYTES;
    }
}
