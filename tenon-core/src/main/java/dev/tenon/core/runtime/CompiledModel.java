package dev.tenon.core.runtime;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Device;
import dev.tenon.core.compiler.Prepared;
import dev.tenon.core.compiler.Stage;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.Text;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.report.EngineEvent;
import dev.tenon.core.report.EngineListener;
import dev.tenon.core.report.ModelReport;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.tensor.LeakWatch;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A graph ready to run on one device. Owns the weights there, shared by all its sessions, and the plans for the shapes
 * that were run.
 *
 * <p>Immutable to its users and thread-safe. Closing waits for runs in flight, closes the sessions and gives the memory
 * back.
 */
public final class CompiledModel implements AutoCloseable {
    private final Engine engine;
    private final Device device;
    private final Preparation preparation;
    private final Graph graph;
    /** The graph with all its defaults, prepared: what most runs run. */
    private final Variant base;
    /** What runs that replace defaults, or want some outputs alone, run. */
    private final SharedCache<Selection, Variant> others;

    private final Device.Constants weights;
    private final Planning planning;
    /** Null where there will be no second plan, or no processor to get ready for it. */
    private final @Nullable PlanningPractice practice;

    private final ModelEvents events;
    private final CompileOptions options;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    /** Runs hold the read side; closing takes the write side. */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    private final LeakWatch watch;
    private boolean closed;
    private boolean released;

    /**
     * What a run is of the graph: the defaults that it replaces, and the outputs that it wants in the model's order,
     * empty for all.
     */
    private record Selection(Set<String> overridden, List<String> outputs) {}

    /** A prepared graph and its plans. */
    private static final class Variant extends Shared {
        final Prepared prepared;
        final SharedCache<List<TensorType>, CompiledStage> plans;

        Variant(Prepared prepared, CompileOptions options, ModelEvents events) {
            this.prepared = prepared;
            this.plans = new SharedCache<>(options, events);
        }

        @Override
        void addConstants(Set<ConstantData> to) {
            to.addAll(prepared.graph().constantData());
            to.addAll(prepared.reduced().constantData());
            plans.values().forEach(stage -> stage.addConstants(to));
        }

        @Override
        public void close() {
            plans.close();
        }
    }

    /**
     * Without plans yet; once the engine knows the model, {@link #prepareAhead} makes those that are wanted ahead of
     * time.
     */
    CompiledModel(Engine engine, Device device, Preparation preparation, EngineListener listener) {
        this.engine = engine;
        this.device = device;
        this.preparation = preparation;
        this.options = preparation.options();
        this.graph = preparation.graph();
        this.events = new ModelEvents(Text.name(graph.name()), listener);
        this.base = new Variant(preparation.prepared(), options, events);
        this.others = new SharedCache<>(options, events);
        this.watch = LeakWatch.over(this, "CompiledModel(" + Text.name(graph.name()) + ")");
        try {
            this.weights = device.newConstants(); // last: nothing after it fails
            this.planning = new Planning(preparation.compiler(), device, weights, options, events);
            this.practice = PlanningPractice.of(
                    planning, base.prepared, Runtime.getRuntime().availableProcessors());
        } catch (RuntimeException | Error e) {
            watch.closed();
            throw e;
        }
    }

    /** Makes the plans that are wanted ahead of time. */
    void prepareAhead() {
        if (options.mode() == CompileMode.AOT) {
            guarded(() -> {
                planAhead();
                return this;
            });
        }
    }

    /** What it was made of, which no device holds. */
    Preparation preparation() {
        return preparation;
    }

    private Variant variant(Selection selection) {
        Prepared prepared =
                selection.overridden.isEmpty() ? base.prepared : preparation.preparedOverriding(selection.overridden);
        return new Variant(
                selection.outputs.isEmpty() ? prepared : prepared.selecting(selection.outputs), options, events);
    }

    private Selection selection(Set<String> names, Collection<String> wanted) {
        if (!graph.outputs().keySet().containsAll(wanted)) {
            graph.selecting(List.copyOf(wanted)); // says which name is wrong
        }
        return new Selection(
                names,
                graph.outputs().keySet().stream().filter(wanted::contains).toList());
    }

    /** Several at a time: most of what a plan takes is compiling kernels and asking libraries. */
    private void planAhead() {
        List<Runnable> plans = new ArrayList<>();
        for (Map<String, Long> dims : options.profile().shapes()) {
            plans.add(() -> plan(base, dims));
        }
        ParallelPlans.make(plans);
    }

    private void plan(Variant variant, Map<String, Long> dims) {
        variant.plans.release(stage(variant, Bindings.types(variant.prepared.graph(), dims)));
    }

    /** What a run must give: names and types, dims that may vary by name. */
    public List<Value> inputs() {
        return base.prepared.graph().inputs();
    }

    /** What a run may give besides: the model has a value for each. */
    public Map<String, TensorType> defaults() {
        return graph.defaults();
    }

    /** The results' names and what is known of their types before a run. */
    public Map<String, TensorType> outputs() {
        Map<String, TensorType> types = new LinkedHashMap<>();
        base.prepared.graph().outputs().forEach((name, value) -> types.put(name, value.type()));
        return types;
    }

    /** The engine that the model was compiled for. */
    public Engine engine() {
        return engine;
    }

    /** A session of its own memory: cheap, for one thread at a time. @throws ClosedException */
    public Session newSession() {
        return guarded(() -> {
            Device.State context = device.newState();
            try {
                Session session = new Session(this, context);
                sessions.add(session);
                return session;
            } catch (RuntimeException | Error e) {
                Closing.after(e, context::close);
                throw e;
            }
        });
    }

    /** What the model holds, and every plan made so far. */
    public ModelReport report() {
        return guarded(() -> {
            List<PlanReport> reports = new ArrayList<>();
            base.plans.values().forEach(stage -> reports.addAll(stage.reports()));
            others.values()
                    .forEach(variant -> variant.plans.values().forEach(stage -> reports.addAll(stage.reports())));
            return new ModelReport(
                    Text.name(graph.name()), engine.target().toString(), device.info(), weights.bytes(), reports);
        });
    }

    /** What making the plans in the cache took, as the {@link #report} says; cheaper than one. */
    public double planMillis() {
        return guarded(() -> {
            double sum = 0;
            for (CompiledStage stage : base.plans.values()) {
                sum += stage.planMillis();
            }
            for (Variant variant : others.values()) {
                for (CompiledStage stage : variant.plans.values()) {
                    sum += stage.planMillis();
                }
            }
            return sum;
        });
    }

    /**
     * Plans for those sizes of the named dims, without running.
     *
     * @throws dev.tenon.core.error.InputException naming a dim without a size
     */
    public void plan(Map<String, Long> dims) {
        Require.entries(dims, "dims");
        guarded(() -> {
            plan(base, dims);
            return this;
        });
    }

    private void whileOpen(Runnable action) {
        guarded(() -> {
            action.run();
            return this;
        });
    }

    /** Runs something while the model cannot be closed. @throws ClosedException */
    <T> T guarded(Supplier<T> action) {
        lifetime.readLock().lock();
        try {
            if (closed) {
                throw new ClosedException("model \"" + graph.name() + "\" is closed");
            }
            return action.get();
        } finally {
            lifetime.readLock().unlock();
        }
    }

    /**
     * Runs within {@link #guarded}.
     *
     * @param wanted the outputs to compute; empty for all
     * @param targets tensors to fill, by the wanted outputs' names; empty for fresh ones
     */
    Map<String, Tensor> run(
            Device.State context,
            Map<String, Tensor> inputs,
            boolean stay,
            Collection<String> wanted,
            Map<String, Tensor> targets) {
        ModelEvents.Span span = events.begin(EngineEvent.Ran.class);
        boolean failed = true;
        try {
            Map<String, Tensor> outputs = outputs(context, inputs, stay, wanted, targets);
            failed = false;
            return outputs;
        } finally {
            events.ran(span, failed);
        }
    }

    private Map<String, Tensor> outputs(
            Device.State context,
            Map<String, Tensor> inputs,
            boolean stay,
            Collection<String> wanted,
            Map<String, Tensor> targets) {
        Set<String> names = graph.overridden(inputs.keySet());
        Map<String, Tensor> results = names.isEmpty() && wanted.isEmpty()
                ? run(base, context, inputs, stay, targets)
                : runSelected(selection(names, wanted), context, inputs, stay, targets);
        Map<String, Tensor> outputs = new LinkedHashMap<>();
        for (String name : wanted.isEmpty() ? graph.outputs().keySet() : wanted) {
            outputs.put(name, Objects.requireNonNull(results.get(name)));
        }
        targets.forEach((name, target) -> fill(name, target, Objects.requireNonNull(outputs.get(name))));
        return outputs;
    }

    private Map<String, Tensor> runSelected(
            Selection selection,
            Device.State context,
            Map<String, Tensor> inputs,
            boolean stay,
            Map<String, Tensor> targets) {
        Variant variant = others.acquire(selection, () -> variant(selection));
        try {
            return run(variant, context, inputs, stay, targets);
        } finally {
            others.release(variant);
        }
    }

    private Map<String, Tensor> run(
            Variant variant,
            Device.State context,
            Map<String, Tensor> inputs,
            boolean stay,
            Map<String, Tensor> targets) {
        Tensor[] ordered = Bindings.order(variant.prepared.graph(), inputs);
        List<TensorType> types = new ArrayList<>(ordered.length);
        for (Tensor tensor : ordered) {
            types.add(tensor.type());
        }
        Map<String, Tensor> results = new HashMap<>();
        CompiledStage stage = stage(variant, types);
        try {
            stage.run(context, ordered, stay, targets, results);
        } finally {
            variant.plans.release(stage);
        }
        return results;
    }

    /** Copies a result that the last stage did not make where it was wanted. */
    @SuppressWarnings("ReferenceEquality") // the same memory, not the same elements
    private static void fill(String name, Tensor target, Tensor result) {
        if (result != target) {
            Bindings.requireTarget(name, result.type(), target);
            target.segment().copyFrom(result.segment());
        }
    }

    /** The plan for those types, in use until it is released. */
    private CompiledStage stage(Variant variant, List<TensorType> types) {
        CompiledStage stage = variant.plans.acquire(types, () -> {
            Map<String, TensorType> named = Bindings.named(variant.prepared.graph(), types);
            Graph serving = variant.prepared.serving(named);
            Stage planned = variant == base ? preparation.takePlanned(types) : null;
            return new CompiledStage(
                    planning,
                    serving,
                    () -> planned != null ? planned : planning.compiler().plan(variant.prepared, named, Map.of()));
        });
        if (practice != null && variant == base) {
            practice.begin(types, this::whileOpen);
        }
        return stage;
    }

    void forget(Session session) {
        sessions.remove(session);
    }

    /**
     * Closes the model and its sessions after the runs in flight. Idempotent; a close that failed may be called again
     * and goes on where it ended.
     */
    @Override
    public void close() {
        lifetime.writeLock().lock();
        try {
            closed = true;
            if (!released) {
                Closing closing = new Closing();
                sessions.forEach(session -> closing.step(session::close));
                closing.end(); // plans and weights stay while a session may still use them
                closing.step(base.plans::close);
                closing.step(others::close);
                closing.end(); // weights stay while a plan may still use them
                weights.close();
                released = true;
                watch.closed();
                engine.forget(this);
            }
        } finally {
            lifetime.writeLock().unlock();
        }
    }
}
