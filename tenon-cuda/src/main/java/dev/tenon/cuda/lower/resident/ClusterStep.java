package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.lower.resident.ClusterEncoder.Shape;
import dev.tenon.cuda.lower.resident.ClusterPlan.Form;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An encoder's launch by clusters of blocks. Keys and values that tiles hand on lie in its workspace. */
final class ClusterStep implements ResidentLaunch {
    private static final int COUNTERS = 2;

    private record Choice(LaunchShape shape, ClusterWords words) {}

    private final Kernel kernel;
    private final ClusterPlan plan;
    private final List<Choice> choices;
    private final String steps;
    /** Made when the kernel has its code, which the device must know to say how many clusters it holds. */
    private volatile @Nullable Choice chosen;

    private ClusterStep(Kernel kernel, ClusterPlan plan, List<Choice> choices, int steps) {
        this.kernel = kernel;
        this.plan = plan;
        this.choices = List.copyOf(choices);
        this.steps = "resident: " + steps + " steps by " + plan.tiles() + (plan.tiles() == 1 ? " cluster" : " clusters");
    }

    /** The step of an encoder that is not refused; `steps` are the nodes that it does. */
    static ClusterStep of(ClusterEncoder encoder, ClusterPlan plan, int steps, GpuLoweringContext context) {
        Kernel kernel = context.kernels()
                .kernel(
                        AttentionCatalog.CLUSTERED,
                        "clustered",
                        AttentionCatalog.clustered(
                                plan.dtype(), plan.shape().head(), plan.columnTiles(), plan.paired()),
                        plan.sharedBytes());
        List<Choice> choices = new ArrayList<>();
        for (Form form : plan.forms()) {
            choices.add(new Choice(form.launch(), new ClusterWords(encoder, plan, form, context)));
        }
        return new ClusterStep(kernel, plan, choices, steps);
    }

    @Override
    public boolean fits() {
        for (Choice choice : choices) {
            int held = kernel.function().clustersOnDevice(choice.shape);
            if (held >= (plan.hands() ? plan.tiles() : 1)) {
                chosen = choice;
                return true;
            }
        }
        return false;
    }

    private Choice choice() {
        Choice found = chosen;
        if (found == null) {
            throw new IllegalStateException("nobody asked whether clusters fit");
        }
        return found;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        Choice choice = choice();
        frame.stream()
                .launch(
                        kernel.function(),
                        choice.shape,
                        choice.words.fill(frame.arguments().clear(), frame));
    }

    @Override
    public String tier() {
        Choice found = chosen;
        return steps + " of " + (found == null ? choices.getFirst() : found).shape.clusterX() + " blocks";
    }

    @Override
    public long workspaceBytes() {
        Shape shape = plan.shape();
        return plan.hands()
                ? SizeMath.product(
                        "clusters", plan.layers(), 2, shape.rows(), shape.hidden(), plan.dtype().bytes())
                : 0;
    }

    @Override
    public long counterBytes() {
        return (long) COUNTERS * Integer.BYTES;
    }
}
