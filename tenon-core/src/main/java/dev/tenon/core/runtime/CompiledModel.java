package dev.tenon.core.runtime;

import dev.tenon.core.backend.Device;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.Text;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.lazy.Headroom;
import dev.tenon.core.lazy.LazyMap;
import dev.tenon.core.options.CompileMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.report.ModelReport;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.tensor.LeakWatch;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.ToLongFunction;

/**
 * A graph ready to run on one device. Owns the weights there, shared by all its sessions, and the plans for the shapes that were run.
 *
 * <p>Immutable to its users and thread-safe. Closing waits for runs in flight, closes the sessions and gives the memory back.
 */
public final class CompiledModel implements AutoCloseable {
    private final Engine runtime;
    private final Device device;
    private final Graph graph;
    private final Weights given;
    /** The graph with all its defaults, prepared: what most runs run. */
    private final Variant base;
    /** What runs that replace defaults run, by the names that they give. */
    private final LazyMap<Set<String>, Variant> overriding;

    private final Device.Weights weights;
    private final Compiler compiler;
    private final CompileOptions options;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    /** Runs hold the read side; closing takes the write side. */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    private final LeakWatch watch;
    private boolean closed;
    private boolean released;

    /** A prepared graph and its plans. */
    private record Variant(Graph prepared, LazyMap<List<TensorType>, CompiledStage> plans) {}

    CompiledModel(Engine runtime, Device device, Graph graph, Weights given, CompileOptions options) {
        Headroom.require("compiling a model");
        this.runtime = runtime;
        this.device = device;
        this.options = options;
        this.compiler = new Compiler(options.compiler(), device::claims, given.halfStore());
        this.graph = graph;
        this.given = given;
        this.base = variant(Set.of());
        this.overriding = new LazyMap<>(options.maxPlans());
        this.weights = device.newWeights();
        this.watch = LeakWatch.over(this, "CompiledModel(" + Text.name(graph.name()) + ")");
        if (options.mode() == CompileMode.AOT) {
            try {
                planAhead();
            } catch (RuntimeException | Error e) {
                weights.close(); // the caller gets no model that it could close
                watch.closed();
                throw e;
            }
        }
    }

    private Variant variant(Set<String> names) {
        return new Variant(
                compiler.prepare(graph.overriding(names), given.constants()), new LazyMap<>(options.maxPlans()));
    }

    private void planAhead() {
        for (ToLongFunction<ShapeProfile.Range> size :
                List.<ToLongFunction<ShapeProfile.Range>>of(ShapeProfile.Range::usual, ShapeProfile.Range::max)) {
            Map<String, Long> dims = new HashMap<>();
            options.profile().ranges().forEach((name, range) -> dims.put(name, size.applyAsLong(range)));
            stage(base, Bindings.types(base.prepared, dims));
        }
    }

    /** What a run must give: names and types, dims that may vary by name. */
    public List<Value> inputs() {
        return base.prepared.inputs();
    }

    /** What a run may give besides: the model has a value for each. */
    public Map<String, TensorType> defaults() {
        return graph.defaults();
    }

    /** The results' names and what is known of their types before a run. */
    public Map<String, TensorType> outputs() {
        Map<String, TensorType> types = new LinkedHashMap<>();
        base.prepared.outputs().forEach((name, value) -> types.put(name, value.type()));
        return types;
    }

    public Engine runtime() {
        return runtime;
    }

    /** A session of its own memory: cheap, for one thread at a time. @throws ClosedException */
    public Session newSession() {
        return guarded(() -> {
            Session session = new Session(this, device.newContext());
            sessions.add(session);
            return session;
        });
    }

    /** What the model holds, and every plan made so far. */
    public ModelReport report() {
        return guarded(() -> {
            List<PlanReport> reports = new ArrayList<>();
            base.plans.values().forEach(stage -> reports.addAll(stage.reports()));
            overriding
                    .values()
                    .forEach(variant -> variant.plans.values().forEach(stage -> reports.addAll(stage.reports())));
            return new ModelReport(
                    Text.name(graph.name()), runtime.target().toString(), device.info(), weights.bytes(), reports);
        });
    }

    /** Plans for those sizes of the named dims, without running. @throws dev.tenon.core.error.InputException naming a dim without a size */
    public void plan(Map<String, Long> dims) {
        guarded(() -> stage(base, Bindings.types(base.prepared, dims)));
    }

    /** Runs something while the model cannot be closed. @throws ClosedException */
    <T> T guarded(java.util.function.Supplier<T> action) {
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

    /** Called within {@link #guarded}. */
    Map<String, Tensor> run(Device.Context context, Map<String, Tensor> inputs, boolean stay) {
        Set<String> names = graph.overridden(inputs.keySet());
        Variant variant = names.isEmpty() ? base : overriding.get(names, () -> variant(names));
        Tensor[] ordered = Bindings.order(variant.prepared, inputs);
        List<TensorType> types = new ArrayList<>(ordered.length);
        for (Tensor tensor : ordered) {
            types.add(tensor.type());
        }
        Map<String, Tensor> results = new HashMap<>();
        stage(variant, types).run(context, ordered, stay, results);
        Map<String, Tensor> outputs = new LinkedHashMap<>();
        for (String name : graph.outputs().keySet()) {
            outputs.put(name, java.util.Objects.requireNonNull(results.get(name)));
        }
        return outputs;
    }

    private CompiledStage stage(Variant variant, List<TensorType> types) {
        return variant.plans.get(
                types,
                () -> new CompiledStage(
                        compiler,
                        device,
                        weights,
                        variant.prepared,
                        Bindings.named(variant.prepared, types),
                        Map.of(),
                        options));
    }

    void forget(Session session) {
        sessions.remove(session);
    }

    /** Closes the model and its sessions after the runs in flight. Idempotent; a close that failed may be called again and goes on where it ended. */
    @Override
    public void close() {
        lifetime.writeLock().lock();
        try {
            closed = true;
            if (!released) {
                Closing closing = new Closing();
                sessions.forEach(session -> closing.step(session::close));
                closing.end(); // weights stay while a session may still read them
                weights.close();
                released = true;
                watch.closed();
                runtime.forget(this);
            }
        } finally {
            lifetime.writeLock().unlock();
        }
    }
}
