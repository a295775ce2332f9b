package dev.tenon.cpu.plan;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Signature;
import dev.tenon.core.backend.Slots;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.Precision;
import dev.tenon.cpu.matmul.CpuMatMulLowering;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** Makes programs of plans: a step for each node that does work, and memory for each value. Used for one plan. */
public final class CpuPlanner implements CpuLoweringContext {
    private final Plan plan;
    private final CpuWeights.ForPlan weights;
    private final int threads;
    private final Precision precision;
    private final Slots slots;

    private CpuPlanner(Plan plan, CpuWeights.ForPlan weights, int threads, Precision precision) {
        this.plan = plan;
        this.weights = weights;
        this.threads = threads;
        this.precision = precision;
        this.slots = Slots.of(plan);
    }

    /**
     * The program of a plan.
     *
     * @param threads that a run will have
     * @throws dev.tenon.core.error.UnsupportedException naming the node that the CPU cannot run
     */
    public static CpuProgram program(Plan plan, CpuWeights weights, int threads, Precision precision) {
        CpuWeights.ForPlan constants = weights.forPlan();
        try {
            return new CpuPlanner(plan, constants, threads, precision).program();
        } catch (RuntimeException | Error e) {
            Closing.after(e, constants::close);
            throw e;
        }
    }

    private CpuProgram program() {
        List<Node> nodes = plan.work();
        CpuStep[] steps = new CpuStep[nodes.size()];
        for (int i = 0; i < steps.length; i++) {
            try {
                steps[i] = CpuLowering.lower(nodes.get(i), this);
            } catch (TenonException e) {
                throw nodes.get(i).fault(e);
            }
        }
        List<CpuProgram.Place> places = places();
        weights.await();
        return new CpuProgram(
                Signature.of(plan.graph()),
                places,
                slots,
                new CpuProgram.Work(nodes, List.of(steps)),
                plan.memory().arenaBytes(),
                threads,
                weights);
    }

    private List<CpuProgram.Place> places() {
        boolean[] read = readAsTheyAre();
        List<CpuProgram.Place> places = new ArrayList<>(read.length);
        for (int i = 0; i < read.length; i++) {
            places.add(place(slots.values().get(i), slots.placements().get(i), read));
        }
        return places;
    }

    private CpuProgram.Place place(Value value, Placement placement, boolean[] read) {
        boolean constant = placement instanceof Placement.Constant;
        Value shown = constant ? MemoryPlanner.shown(value) : value;
        ConstantData data = constant && read[slots.of(shown)] ? shown.constant() : null;
        return new CpuProgram.Place(
                placement, value.type().bytes(), data == null ? MemorySegment.NULL : weights.dense(data));
    }

    /**
     * By slot, the constants that some step reads in their own form; a weight that is only multiplied exists in panels
     * alone.
     */
    private boolean[] readAsTheyAre() {
        boolean[] read = new boolean[slots.values().size()];
        List<Node> nodes = plan.graph().nodes();
        for (int step = 0; step < nodes.size(); step++) {
            noteReads(nodes.get(step), step, read);
        }
        return read;
    }

    private void noteReads(Node node, int step, boolean[] read) {
        for (int i = 0; i < node.inputs().size() && !MemoryPlanner.isView(node.op()); i++) {
            boolean constant = slots.placementOf(step, i) instanceof Placement.Constant;
            if (constant && !CpuMatMulLowering.packs(node, i)) {
                read[slots.of(MemoryPlanner.shown(node.input(i)))] = true;
            }
        }
    }

    @Override
    public int slot(Value value) {
        return slots.of(value);
    }

    @Override
    public MemorySegment prepared(ConstantData data, String layout, Function<ConstantData, Prepared> make) {
        return weights.prepared(data, layout, make);
    }

    @Override
    public <T> T lasting(Object key, Class<T> type, Supplier<T> make) {
        return type.cast(weights.lasting(key, make));
    }

    @Override
    public int threads() {
        return threads;
    }

    @Override
    public Precision precision() {
        return precision;
    }
}
