package dev.tenon.cuda.lower.resident;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.nativelib.Switches;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which steps of a plan run in resident launches: those that are done sooner that way by a model of time.
 * {@code TENON_RESIDENT=0} forbids it, and {@code TENON_LAYERS=0} the form for layers of encoders. Made for one plan;
 * immutable.
 */
public final class ResidentLowering {
    private static final boolean ON = Switches.on("TENON_RESIDENT", true);
    private static final boolean LAYERS = Switches.on("TENON_LAYERS", true);

    /**
     * Of a step of its own within a recorded plan, in microseconds: measured on an H200 with small operands. Products
     * of f32 split k, and take a second launch for that.
     */
    private static final double STEP = 3.4;

    private static final double F32_STEP = 5.6;

    /** Multiplications and additions of large products in a microsecond, beyond that. */
    private static final double RATE = 75e6;

    private static final double F32_RATE = 32e6;

    /**
     * Products of more rows fill the device by themselves, and are done sooner in steps of their own: on an H200 so are
     * those of 256 rows. Plans without smaller ones are not looked at, for their making is part of a run's first time.
     */
    private static final long MOST_ROWS = 512;

    /** Which forms may be taken; each one includes those behind it. */
    private enum Forms {
        LAYERS,
        PHASES,
        NONE
    }

    /**
     * A form of a segment.
     *
     * @param microseconds that it takes by the model
     * @param packs whether it reads weights packed
     * @param refused why another form was passed over, or nothing
     */
    private record Choice(
            ResidentSegment segment,
            double microseconds,
            boolean packs,
            Function<GpuLoweringContext, GpuStep> make,
            List<String> refused) {}

    private final Map<Integer, Choice> choices = new HashMap<>();
    private final Map<Integer, List<String>> reasons = new HashMap<>();
    private final Plan plan;
    private final DeviceProperties device;
    private final Precision precision;
    private final Forms forms;

    private ResidentLowering(Plan plan, DeviceProperties device, Precision precision, Forms forms) {
        this.plan = plan;
        this.device = device;
        this.precision = precision;
        this.forms = forms;
        if (forms != Forms.NONE && concerns()) {
            new ResidentSegments(plan).all().forEach(this::choose);
        }
    }

    /** The choice for a plan on a device. */
    public static ResidentLowering of(Plan plan, DeviceProperties device, Precision precision) {
        return new ResidentLowering(plan, device, precision, Forms.LAYERS);
    }

    /** The choice where one of this one's launches has no code: without the form for layers, then without any. */
    public ResidentLowering lesser() {
        boolean packs = choices.values().stream().anyMatch(Choice::packs);
        return new ResidentLowering(plan, device, precision, packs ? Forms.PHASES : Forms.NONE);
    }

    private void choose(ResidentSegment segment) {
        String reason = reason(segment);
        List<String> refused = reason.isEmpty() ? new ArrayList<>() : List.of(reason);
        Choice best = reason.isEmpty() ? best(segment, refused) : null;
        for (int member : segment.members()) {
            if (best == null) {
                reasons.put(member, refused);
            } else {
                choices.put(member, best);
            }
        }
    }

    /** The form that is done soonest, or null where steps of their own are; adds why others are not taken. */
    private @Nullable Choice best(ResidentSegment segment, List<String> refused) {
        double apart = apart(segment);
        Choice best = null;
        EncoderLayers encoder = forms == Forms.LAYERS && LAYERS ? EncoderLayers.of(segment) : null;
        for (Choice choice : List.of(tile(segment, encoder), layers(segment, encoder), phases(segment))) {
            if (!choice.refused.isEmpty()) {
                refused.addAll(choice.refused);
            } else if (choice.microseconds >= apart) {
                refused.add((choice.packs ? "resident layers: " : "resident: ") + Math.round(choice.microseconds)
                        + " us by the model, steps of their own " + Math.round(apart));
            } else if (best == null || choice.microseconds < best.microseconds) {
                best = choice;
            }
        }
        return best == null ? null : new Choice(segment, best.microseconds, best.packs, best.make, refused);
    }

    private Choice tile(ResidentSegment segment, @Nullable EncoderLayers encoder) {
        String refusal = encoder == null ? noLayers() : TilePlan.refusal(encoder, segment.dtype(), device);
        return encoder == null || !refusal.isEmpty()
                ? refused(segment, "resident tile: " + refusal)
                : layers(segment, encoder, TilePlan.of(encoder, segment.dtype()));
    }

    private Choice layers(ResidentSegment segment, @Nullable EncoderLayers encoder) {
        String refusal = encoder == null ? noLayers() : LayersPlan.refusal(encoder, segment.dtype(), device);
        return encoder == null || !refusal.isEmpty()
                ? refused(segment, "resident layers: " + refusal)
                : layers(segment, encoder, LayersPlan.of(encoder, segment.dtype()));
    }

    private static String noLayers() {
        return LAYERS ? "these are no layers of an encoder" : "TENON_LAYERS is 0";
    }

    private static Choice layers(ResidentSegment segment, EncoderLayers encoder, EncoderPlan fitting) {
        int steps = segment.members().size();
        return new Choice(
                segment,
                fitting.microseconds(),
                true,
                context -> LayersStep.of(encoder, fitting, steps, context),
                List.of());
    }

    private Choice phases(ResidentSegment segment) {
        String refusal = ResidentPlan.refusal(segment, device);
        if (!refusal.isEmpty()) {
            return refused(segment, "resident: " + refusal);
        }
        ResidentPlan fitting = ResidentPlan.of(segment, device);
        return new Choice(
                segment,
                fitting.microseconds(),
                false,
                context -> ResidentStep.of(segment, fitting, context),
                List.of());
    }

    private static Choice refused(ResidentSegment segment, String reason) {
        return new Choice(
                segment,
                Double.POSITIVE_INFINITY,
                false,
                _ -> {
                    throw new IllegalStateException(reason);
                },
                List.of(reason));
    }

    /** Whether a plan has a product of few rows; the others get their reason. */
    private boolean concerns() {
        List<Node> work = plan.work();
        Map<Integer, List<String>> large = new HashMap<>();
        for (int i = 0; i < work.size(); i++) {
            if (work.get(i).op() instanceof MatMul product && !product.transposeA()) {
                Shape a = work.get(i).input(0).shape();
                long rows = a.rank() < 2 ? 1 : a.elements(0, a.rank() - 1);
                if (rows <= MOST_ROWS) {
                    return true;
                }
                large.put(i, List.of("resident: " + rows + " rows, at most " + MOST_ROWS));
            }
        }
        reasons.putAll(large);
        return false;
    }

    private String reason(ResidentSegment segment) {
        if (!ON) {
            return "resident: TENON_RESIDENT is 0";
        }
        if (segment.dtype() == DType.F32 && precision != Precision.FAST) {
            return "resident: f32 products may not run in TF32";
        }
        return "";
    }

    private static double apart(ResidentSegment segment) {
        double products = 0;
        for (ResidentPhase phase : segment.phases()) {
            products += phase.kind() == ResidentPhase.Kind.PRODUCT
                    ? (double) phase.sizes().rows()
                            * phase.sizes().n()
                            * phase.sizes().k()
                    : 0;
        }
        boolean f32 = segment.dtype() == DType.F32;
        return segment.members().size() * (f32 ? F32_STEP : STEP) + products / (f32 ? F32_RATE : RATE);
    }

    /** What does a node's work in or by a resident launch; null where a step of its own does. */
    public @Nullable GpuStep step(int index, GpuLoweringContext context) {
        Choice choice = choices.get(index);
        if (choice == null) {
            return null;
        }
        int position = choice.segment.position();
        return index == position
                ? new Explained(choice.make.apply(context), choice.refused)
                : new ResidentPart(position + 1);
    }

    /** The nodes whose work a node's step does: its own, or all of a launch, or none where a launch does it. */
    public List<Integer> members(int index) {
        Choice choice = choices.get(index);
        return choice == null
                ? List.of(index)
                : choice.segment.position() == index ? choice.segment.members() : List.of();
    }

    /** The values that a node's step keeps to itself. */
    public Set<Value> inside(int index) {
        Choice choice = choices.get(index);
        return choice == null ? Set.of() : choice.segment.inside();
    }

    /** Whether a node's step reads its matrix packed. */
    public boolean packs(int index) {
        Choice choice = choices.get(index);
        return choice != null && choice.packs;
    }

    /** Whether the step at an index is a launch for several nodes. */
    public boolean launches(int index) {
        Choice choice = choices.get(index);
        return choice != null && choice.segment.position() == index;
    }

    /** A step with the reason why it is not part of a resident launch, where there is one. */
    public GpuStep explained(int index, GpuStep step) {
        List<String> reason = reasons.get(index);
        return reason == null ? step : new Explained(step, reason);
    }

    /** A step behind reasons. */
    private record Explained(GpuStep step, List<String> why) implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            step.enqueue(frame);
        }

        @Override
        public String tier() {
            return step.tier();
        }

        @Override
        public List<String> passedOver() {
            List<String> all = new ArrayList<>(why);
            all.addAll(step.passedOver());
            return all;
        }

        @Override
        public String fault(long value) {
            return step.fault(value);
        }

        @Override
        public boolean recordable() {
            return step.recordable();
        }

        @Override
        public long workspaceBytes() {
            return step.workspaceBytes();
        }

        @Override
        public long counterBytes() {
            return step.counterBytes();
        }

        @Override
        public boolean callsCublas() {
            return step.callsCublas();
        }
    }
}
