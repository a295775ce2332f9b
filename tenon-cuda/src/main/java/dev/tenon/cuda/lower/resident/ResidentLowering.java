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
import org.jspecify.annotations.Nullable;

/**
 * Chooses which steps of a plan run in resident launches: those that are done sooner that way by a model of time.
 * {@code TENON_RESIDENT=0} forbids it. Made for one plan; immutable.
 */
public final class ResidentLowering {
    private static final boolean ON = Switches.on("TENON_RESIDENT", true);

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

    private record Choice(ResidentSegment segment, ResidentPlan plan) {}

    private final Map<Integer, Choice> choices = new HashMap<>();
    private final Map<Integer, String> reasons = new HashMap<>();

    private ResidentLowering() {}

    /** One that takes nothing. */
    public static ResidentLowering none() {
        return new ResidentLowering();
    }

    /** The choice for a plan on a device. */
    public static ResidentLowering of(Plan plan, DeviceProperties device, Precision precision) {
        ResidentLowering lowering = new ResidentLowering();
        if (!lowering.concerns(plan)) {
            return lowering;
        }
        for (ResidentSegment segment : new ResidentSegments(plan).all()) {
            String reason = reason(segment, device, precision);
            ResidentPlan fitting = reason.isEmpty() ? ResidentPlan.of(segment, device) : null;
            if (fitting != null && fitting.microseconds() >= apart(segment)) {
                reason = "resident: " + Math.round(fitting.microseconds()) + " us by the model, steps of their own "
                        + Math.round(apart(segment));
                fitting = null;
            }
            for (int member : segment.members()) {
                if (fitting == null) {
                    lowering.reasons.put(member, reason);
                } else {
                    lowering.choices.put(member, new Choice(segment, fitting));
                }
            }
        }
        return lowering;
    }

    /** Whether a plan has a product of few rows; the others get their reason. */
    private boolean concerns(Plan plan) {
        List<Node> work = plan.work();
        Map<Integer, String> large = new HashMap<>();
        for (int i = 0; i < work.size(); i++) {
            if (work.get(i).op() instanceof MatMul product && !product.transposeA()) {
                Shape a = work.get(i).input(0).shape();
                long rows = a.rank() < 2 ? 1 : a.elements(0, a.rank() - 1);
                if (rows <= MOST_ROWS) {
                    return true;
                }
                large.put(i, "resident: " + rows + " rows, at most " + MOST_ROWS);
            }
        }
        reasons.putAll(large);
        return false;
    }

    private static String reason(ResidentSegment segment, DeviceProperties device, Precision precision) {
        if (!ON) {
            return "resident: TENON_RESIDENT is 0";
        }
        if (segment.dtype() == DType.F32 && precision != Precision.FAST) {
            return "resident: f32 products may not run in TF32";
        }
        String refusal = ResidentPlan.refusal(segment, device);
        return refusal.isEmpty() ? "" : "resident: " + refusal;
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
                ? ResidentStep.of(choice.segment, choice.plan, context)
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

    /** A step with the reason why it is not part of a resident launch, where there is one. */
    public GpuStep explained(int index, GpuStep step) {
        String reason = reasons.get(index);
        return reason == null ? step : new Explained(step, reason);
    }

    /** A step behind a reason. */
    private record Explained(GpuStep step, String reason) implements GpuStep {
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
            List<String> all = new ArrayList<>(List.of(reason));
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
