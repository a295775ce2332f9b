package dev.tenon.core.runtime;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Device;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.lazy.Headroom;
import dev.tenon.core.options.CompileMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.EngineListener;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.core.tensor.LeakWatch;
import dev.tenon.core.tensor.Tensor;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * An open device. Closing it closes the models compiled for it, after the runs in flight.
 *
 * <p>Thread-safe.
 */
public final class Engine implements AutoCloseable {
    /** Between runs by which a device settles: long enough that it rests for a part of it, and times algorithms. */
    private static final long PAUSE_NANOS = 25_000_000;

    private final Target target;
    private final Backend backend;
    private final Device device;
    /** The caller's once the engine is open: it is not told of the rehearsal's runs. */
    private volatile EngineListener listener = EngineListener.NONE;

    private final EngineOptions options;
    private final Set<CompiledModel> models = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Guarded by {@link #models}. */
    private boolean released;

    private final LeakWatch watch;

    /** Opens the device last: nothing after it fails. */
    private Engine(Target target, Backend backend, EngineOptions options) {
        this.target = target;
        this.backend = backend;
        this.options = options;
        this.watch = LeakWatch.over(this, "Engine(" + target + ")");
        try {
            this.device = backend.open(target.ordinal(), options);
        } catch (RuntimeException | Error e) {
            watch.closed();
            throw e;
        }
    }

    /**
     * Opens a device with all its defaults.
     *
     * @throws dev.tenon.core.error.UnsupportedException when it is not there, saying why
     */
    public static Engine open(Target target) {
        return open(target, EngineOptions.defaults());
    }

    public static Engine open(Target target, EngineOptions options) {
        Require.nonNull(target, "target");
        Require.nonNull(options, "options");
        Headroom.require("opening a device");
        return open(target, Backends.named(target.backend()), options);
    }

    /**
     * Opens a device of a backend that the caller has made, and that need not be on the path.
     *
     * @throws dev.tenon.core.error.UnsupportedException when it is not there, saying why
     */
    public static Engine open(Backend backend, int ordinal, EngineOptions options) {
        Require.nonNull(backend, "backend");
        Require.nonNull(options, "options");
        Headroom.require("opening a device");
        return open(new Target(backend.name(), ordinal, ""), backend, options);
    }

    private static Engine open(Target target, Backend backend, EngineOptions options) {
        Engine engine = new Engine(target, backend, options);
        try {
            Rehearsal.once(engine);
            engine.listener = options.listener();
        } catch (RuntimeException | Error e) {
            Closing.after(e, engine::close);
            throw e;
        }
        return engine;
    }

    public Target target() {
        return target;
    }

    public DeviceInfo device() {
        return device.info();
    }

    /** Bytes that Tenon holds on the device now. */
    public MemoryReport memory() {
        return device.memory();
    }

    /**
     * Whether runs like those up to now will go on as they do. The CPU backend starts on plain loops and takes vector
     * loops into use when the JVM has compiled them, within seconds: a measurement waits for this.
     */
    public boolean settled() {
        return device.settled();
    }

    /**
     * Runs {@code work} now and then until the engine has {@link #settled}, leaving the cores to the JVM's compiler in
     * between.
     *
     * @param work what will be measured
     * @param limit after which it gives up
     * @return whether it has settled
     */
    public boolean settle(Runnable work, Duration limit) {
        Require.nonNull(work, "work");
        Require.nonNull(limit, "limit");
        requireOpen();
        long start = System.nanoTime();
        work.run(); // asks for the loops that it needs
        while (!settled()) {
            if (System.nanoTime() - start > limit.toNanos()
                    || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            work.run();
        }
        return true;
    }

    /**
     * The same elements in the device's memory, where it has one of its own: an input that many runs read is copied
     * once. The caller closes it. Of a tensor that lies there already, and on the CPU, the tensor itself.
     *
     * @throws dev.tenon.core.error.OutOfMemoryException when the device has no room for it
     */
    public Tensor upload(Tensor tensor) {
        Require.nonNull(tensor, "tensor");
        requireOpen();
        tensor.requireReadable("tensor " + tensor.type());
        return device.upload(tensor);
    }

    /**
     * Zeros in the device's memory, where it has one of its own: what a collective is to fill. The caller
     * closes it.
     *
     * @throws dev.tenon.core.error.OutOfMemoryException when the device has no room for it
     */
    public Tensor zeros(TensorType type) {
        Require.nonNull(type, "type");
        requireOpen();
        long _ = Tensor.bytes(type); // no number is an exception of ours, before a device asks
        return device.zeros(type);
    }

    /** Compiles a graph without parameters. */
    public CompiledModel compile(Graph graph) {
        return compile(graph, Weights.none(), CompileOptions.defaults());
    }

    /** Compiles a graph without parameters, as the options say. */
    public CompiledModel compile(Graph graph, CompileOptions options) {
        return compile(graph, Weights.none(), options);
    }

    /**
     * Runs a graph once and keeps nothing of it: to try something. A graph that runs more often is {@link #compile
     * compiled} once.
     *
     * @param inputs by name
     * @return the outputs by name, in the host's memory
     */
    public Map<String, Tensor> eager(Graph graph, Map<String, Tensor> inputs) {
        try (CompiledModel model = compile(graph);
                Session session = model.newSession()) {
            return session.run(inputs);
        }
    }

    /**
     * Makes a graph ready to run: checks it, binds its parameters, computes what is constant. Plans for concrete shapes
     * are made when runs need them, or here, with {@link CompileMode#AOT}.
     *
     * @throws dev.tenon.core.error.InputException when weights are missing or of another type
     */
    public CompiledModel compile(Graph graph, Weights weights, CompileOptions options) {
        Require.nonNull(graph, "graph");
        Require.nonNull(weights, "weights");
        Require.nonNull(options, "options");
        requireOpen();
        return compile(new Preparation(backend, graph, weights, options));
    }

    /**
     * Makes a prepared graph ready to run.
     *
     * @throws dev.tenon.core.error.InputException when it was prepared for another kind of device
     */
    public CompiledModel compile(Preparation preparation) {
        Require.nonNull(preparation, "preparation");
        requireOpen();
        if (!preparation.backend().equals(backend.name())) {
            throw new InputException("the graph was prepared for " + preparation.backend() + ", the engine is for "
                    + target + "; prepare it for that");
        }
        CompiledModel model = new CompiledModel(this, device, preparation, listener);
        try {
            models.add(model);
            requireOpen(); // the engine may have been closed meanwhile
            model.prepareAhead();
        } catch (RuntimeException | Error e) {
            // the caller gets no model to close; one that does not close now closes with the engine
            Closing.after(e, model::close);
            throw e;
        }
        return model;
    }

    /**
     * An engine that has taken the place of another.
     *
     * @param models the new model of each one that the other engine had open
     */
    public record Reopened(Engine engine, Map<CompiledModel, CompiledModel> models) {
        public Reopened {
            Require.nonNull(engine, "engine");
            models = Map.copyOf(Require.entries(models, "models"));
        }

        /**
         * Returns the model that has taken the place of one of the engine before.
         *
         * @throws InputException for a model that was not open when the engine was reopened
         */
        public CompiledModel of(CompiledModel before) {
            CompiledModel model = models.get(Require.nonNull(before, "before"));
            if (model == null) {
                throw new InputException("the model was not open when its engine was reopened");
            }
            return model;
        }
    }

    /**
     * Closes this engine, opens its device anew with the same options, and compiles anew every model that is open:
     * after a {@link dev.tenon.core.error.DeviceLostException}, where the driver lets a process go on. Weights come
     * from where they were at first, such as their mapped file. Sessions and tensors of this engine are gone.
     *
     * @throws ClosedException when this engine is closed
     * @throws dev.tenon.core.error.UnsupportedException when the device does not open any more; this engine is closed
     *     then
     */
    public Reopened reopen() {
        requireOpen();
        List<CompiledModel> before = List.copyOf(models);
        close();
        Engine engine = open(target, backend, options);
        try {
            Map<CompiledModel, CompiledModel> again = new HashMap<>();
            for (CompiledModel model : before) {
                again.put(model, engine.compile(model.preparation()));
            }
            return new Reopened(engine, again);
        } catch (RuntimeException | Error e) {
            Closing.after(e, engine::close);
            throw e;
        }
    }

    void forget(CompiledModel model) {
        models.remove(model);
    }

    private void requireOpen() {
        if (closed.get()) {
            throw new ClosedException("the engine for " + target + " is closed");
        }
    }

    /**
     * Closes the engine, its models and their sessions after the runs in flight. Idempotent; a close that failed may be
     * called again and goes on where it ended.
     */
    @Override
    public void close() {
        closed.set(true);
        synchronized (models) {
            if (!released) {
                Closing closing = new Closing();
                models.forEach(model -> closing.step(model::close));
                closing.end(); // the device stays while a model may still use it
                device.close();
                released = true;
                watch.closed();
            }
        }
    }
}
