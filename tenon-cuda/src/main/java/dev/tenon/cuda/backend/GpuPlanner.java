package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Program;
import dev.tenon.core.backend.Signature;
import dev.tenon.core.backend.Slots;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.core.options.CompileMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.blas.LtAnswer;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.dnn.DnnAnswer;
import dev.tenon.cuda.dnn.DnnExpected;
import dev.tenon.cuda.dnn.DnnOperation;
import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.StepKernels;
import dev.tenon.cuda.lower.GpuLowering;
import dev.tenon.cuda.lower.convolution.GpuConvLowering;
import dev.tenon.cuda.lower.matmul.GpuPrologueLowering;
import dev.tenon.cuda.lower.resident.ResidentLowering;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.IdleWork;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.StepRival;
import dev.tenon.cuda.lower.step.WeightOrder;
import dev.tenon.cuda.schedule.StepUse;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.tuning.Rival;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes programs of plans: a step for each node that does work, its kernels compiled together, constants uploaded if a
 * step reads them. Used for one plan.
 */
final class GpuPlanner implements GpuLoweringContext {
    /** Smaller constants are often part of a step, which does not read them from memory. */
    private static final long LEAST_BYTES_AHEAD = 256;

    private final Plan plan;
    private final ProgramResources resources;
    private final GpuDevice device;
    private final CompileOptions options;
    private final Slots slots;
    private final List<ValuePlace> places = new ArrayList<>();
    /** Of matrices in another order. */
    private final Map<Ordered, Integer> ordered = new HashMap<>();

    private record Ordered(Value matrix, WeightOrder order) {}

    private final Node[] nodes;
    private final GpuStep[] steps;
    private final List<StepKernels> stepKernels = new ArrayList<>();
    private final Map<Object, Object> shared = new HashMap<>();
    private ResidentLowering resident;
    private final DnnExpected libraryPlans;
    private int lowering;
    /** Whether a program comes of it, which work may be done for when the device is idle. */
    private boolean keeps = true;

    private String compilerRefused = "";

    private GpuPlanner(Plan plan, ProgramResources resources, GpuDevice device, CompileOptions options) {
        this.plan = plan;
        this.resources = resources;
        this.device = device;
        this.options = options;
        this.slots = Slots.of(plan);
        this.libraryPlans = device.dnn().expected();
        for (int i = 0; i < slots.values().size(); i++) {
            ConstantData data = MemoryPlanner.shown(slots.values().get(i)).constant();
            places.add(new ValuePlace(slots.placements().get(i), data, null));
        }
        this.nodes = plan.work().toArray(Node[]::new);
        this.steps = new GpuStep[nodes.length];
        this.resident = ResidentLowering.of(plan, device.modules().context().device(), options.precision());
    }

    /**
     * The program of a plan.
     *
     * @throws UnsupportedException naming the node that neither the device nor the host can run
     */
    static GpuProgram program(Plan plan, GpuWeights weights, GpuDevice device, CompileOptions options) {
        ProgramResources resources = new ProgramResources(weights, device.blas(), device.dnn());
        try {
            GpuPlanner planner = new GpuPlanner(plan, resources, device, options);
            List<GpuWeights.Layout> expected =
                    device.blas().mayStart() && weights.isEmpty() ? planner.expected() : List.of();
            try (UploadAhead ahead = UploadAhead.begin(device.context(), weights, expected);
                    DnnExpected _ = planner.libraryPlans) {
                planner.expectConvolutions();
                return planner.program(ahead);
            }
        } catch (RuntimeException | Error e) {
            Closing.after(e, resources::close);
            throw e;
        }
    }

    /** Makes the steps of a plan and drops them. */
    static void practise(Plan plan, GpuWeights weights, GpuDevice device, CompileOptions options) {
        try (ProgramResources resources = new ProgramResources(weights, device.blas(), device.dnn())) {
            GpuPlanner planner = new GpuPlanner(plan, resources, device, options);
            planner.keeps = false;
            try (DnnExpected _ = planner.libraryPlans) {
                planner.makeSteps();
                planner.giveCode(StepKernels.load(device.modules(), planner.stepKernels));
            }
        }
    }

    /** The constants that its steps will read, as far as that can be told before they are made. */
    private List<GpuWeights.Layout> expected() {
        Set<GpuWeights.Layout> all = new LinkedHashSet<>();
        for (int i = 0; i < nodes.length; i++) {
            Node node = nodes[i];
            int turned = resident.inside(i).isEmpty()
                    ? GpuPrologueLowering.turned(node, device.context().device().architecture(), options.precision())
                    : -1;
            for (int input = 0; input < node.inputs().size(); input++) {
                boolean packed = resident.packs(i) && input == 1 && node.op() instanceof MatMul;
                if (!packed
                        && MemoryPlanner.shown(node.input(input)).constant() instanceof ConstantData.Dense dense
                        && dense.type().bytes() >= LEAST_BYTES_AHEAD) {
                    all.add(new GpuWeights.Layout(dense, input == turned ? new WeightOrder.Transposed() : null));
                }
            }
        }
        return List.copyOf(all);
    }

    /** Lets cuDNN begin with what it will be asked about. */
    private void expectConvolutions() {
        if (device.blas().mayStart()) {
            stepKernels.add(new StepKernels(device.modules())); // none is asked for
            for (Node node : nodes) {
                GpuConvLowering.asked(node, this).ifPresent(libraryPlans::add);
            }
            stepKernels.clear();
        }
    }

    private GpuProgram program(UploadAhead ahead) {
        SavedPlans.Saved saved =
                options.mode() == CompileMode.AOT ? device.savedPlans().find(plan, options) : null;
        if (saved != null) {
            device.savedPlans().load(saved);
        }
        makeSteps();
        StepKernels ofInputs = new StepKernels(device.modules());
        CopyKernel.Few inputs = options.execution().recorded() ? new CopyKernel.Few(ofInputs) : null;
        stepKernels.add(ofInputs);
        StepKernels.Loaded loaded = StepKernels.load(device.modules(), stepKernels);
        if (!giveCode(loaded)) {
            resident = resident.lesser();
            stepKernels.clear();
            return program(ahead);
        }
        boolean copies = loaded.bind(ofInputs).isEmpty();
        if (saved != null && !saved.found()) {
            device.savedPlans().save(saved, stepKernels);
        }
        ahead.keep(this::read);
        IoLayout io = new IoLayout(Signature.of(plan.graph()));
        List<GpuStep> all = List.of(steps);
        Placement[] placements = new Placement[places.size()];
        long[] addresses = new long[placements.length];
        for (int i = 0; i < placements.length; i++) {
            placements[i] = places.get(i).placement;
            addresses[i] = address(places.get(i));
        }
        return new GpuProgram(
                io,
                placements,
                addresses,
                new GpuProgram.Work(List.of(nodes), all, Stretch.of(all, uses(io), options.execution())),
                plan.memory().arenaBytes(),
                saved == null ? "" : saved.text(),
                copies ? inputs : null,
                resources);
    }

    private void makeSteps() {
        for (lowering = 0; lowering < steps.length; lowering++) {
            stepKernels.add(new StepKernels(device.modules()));
            steps[lowering] = lower(nodes[lowering]);
        }
    }

    /** What each step does to memory, where there are streams to choose from. */
    private List<StepUse> uses(IoLayout io) {
        if (options.execution().streams() == 1) {
            return List.of();
        }
        return StepUses.all(nodes, resident, slots, io, StepRates.of(device.info(), Store.standard()));
    }

    /** The constants that steps read, as they lie in memory. */
    private Set<GpuWeights.Layout> read() {
        Set<GpuWeights.Layout> all = new HashSet<>();
        for (ValuePlace place : places) {
            if (place.read && place.data != null) {
                all.add(new GpuWeights.Layout(place.data, place.order).place().whole());
            }
        }
        return all;
    }

    /** Of a constant that some step reads; 0 for all else. */
    private long address(ValuePlace place) {
        return place.read && place.data != null ? resources.address(new GpuWeights.Layout(place.data, place.order)) : 0;
    }

    /**
     * Compiles and loads the kernels of all steps together; what nothing compiles here is made of kernels built ahead,
     * or becomes a step of the host.
     *
     * @return whether all steps have code; false where steps are to be made anew, with lesser launches of several
     */
    private boolean giveCode(StepKernels.Loaded loaded) {
        for (lowering = 0; lowering < steps.length; lowering++) {
            String refused = bind(loaded, stepKernels.get(lowering), nodes[lowering]);
            if (!refused.isEmpty() && resident.launches(lowering)) {
                return false;
            }
            if (!refused.isEmpty()) {
                steps[lowering] = withoutCompiler(nodes[lowering], refused);
            }
        }
        return true;
    }

    private GpuStep withoutCompiler(Node node, String refused) {
        compilerRefused = refused;
        StepKernels ahead = new StepKernels(device.modules());
        stepKernels.add(ahead);
        try {
            GpuStep step = lower(node);
            String none = bind(StepKernels.load(device.modules(), List.of(ahead)), ahead, node);
            return none.isEmpty() ? step : onHost(node, none);
        } finally {
            stepKernels.removeLast();
            compilerRefused = "";
        }
    }

    private static String bind(StepKernels.Loaded loaded, StepKernels kernels, Node node) {
        try {
            return loaded.bind(kernels);
        } catch (TenonException e) {
            throw node.fault(e);
        }
    }

    private GpuStep lower(Node node) {
        try {
            GpuStep together = resident.step(lowering, this);
            if (together != null) {
                return together;
            }
            return switch (GpuLowering.lower(node, this)) {
                case GpuStep step -> resident.explained(lowering, step);
                case NoKernel none -> onHost(node, none.reason());
            };
        } catch (TenonException e) {
            throw node.fault(e);
        }
    }

    private GpuStep onHost(Node node, String reason) {
        try {
            return GpuLowering.onHost(node, this, reason);
        } catch (TenonException e) {
            throw node.fault(e);
        }
    }

    @Override
    public int slot(Value value) {
        int slot = slots.of(value);
        places.get(slot).read = true;
        return slot;
    }

    @Override
    public int orderedSlot(Value matrix, WeightOrder order) {
        return ordered.computeIfAbsent(new Ordered(matrix, order), _ -> {
            ConstantData data = matrix.constant();
            // what is saved of a plan is all that it needs, though another plan has it by now
            if (data != null
                    && (options.mode() == CompileMode.AOT || !resources.holds(new GpuWeights.Layout(data, order)))) {
                order.note(kernels(), matrix.type()); // its code is loaded with the step's
            }
            places.add(new ValuePlace(new Placement.Constant(), data, order));
            return places.size() - 1;
        });
    }

    @Override
    public Kernels kernels() {
        return stepKernels.getLast();
    }

    @Override
    public String compilerRefused() {
        return compilerRefused;
    }

    @Override
    public @Nullable IdleWork idleWork() {
        IdleWork idle = device.idleWork();
        return keeps || idle == null ? idle : _ -> {};
    }

    @Override
    public Precision precision() {
        return options.precision();
    }

    @Override
    public AdditionOrder additionOrder() {
        return options.numerics().additionOrder();
    }

    @Override
    public Blas blas() {
        return device.blas();
    }

    @Override
    public LtAnswer prepare(GemmProblem problem, @Nullable Rival rival) {
        return resources.prepare(problem, rival);
    }

    @Override
    public Dnn dnn() {
        return device.dnn();
    }

    @Override
    public DnnAnswer prepare(DnnOperation operation, @Nullable Rival rival) {
        return resources.prepare(operation, rival, libraryPlans);
    }

    @Override
    public Rival rival(List<Long> operandBytes, Function<GpuLoweringContext, @Nullable GpuStep> make) {
        return new StepRival(device.modules(), precision(), operandBytes, make);
    }

    @Override
    public Program onHost(Plan single, String reason) {
        return resources.onHost(single, reason);
    }

    @Override
    public <T> T shared(Object key, Class<T> type, Supplier<T> make) {
        Object known = shared.get(key);
        if (known == null) {
            known = make.get();
            shared.put(key, known);
        }
        return type.cast(known);
    }

    @Override
    public <T> T lasting(Object key, Class<T> type, Supplier<T> make) {
        return type.cast(resources.lasting(key, make));
    }

    @Override
    public int stepNumber() {
        return lowering;
    }
}
