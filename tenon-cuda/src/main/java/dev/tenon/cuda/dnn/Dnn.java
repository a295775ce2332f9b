package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.HEUR_MODE_A;
import static dev.tenon.nativelib.cudnn.CudnnConstants.HEUR_MODE_FALLBACK;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Choice;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tuner;
import dev.tenon.cuda.tuning.TuningRecords;
import dev.tenon.nativelib.cudnn.Cudnn;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * cuDNN on one open device. Opening it loads nothing: the library is looked for, and started, when an operation is
 * first prepared. Thread-safe. Close it before the context.
 */
public final class Dnn implements AutoCloseable {
    /**
     * A question to the library's heuristics.
     *
     * @param most configurations that are asked for, its favourites
     * @param tried how many of them an earlier question has had
     */
    private record Question(int mode, int most, int tried) {}

    /** The favourite alone first: nine tenths of the time of a plan go into ranking the others. */
    private static final List<Question> QUESTIONS = List.of(
            new Question(HEUR_MODE_A, 1, 0), new Question(HEUR_MODE_A, 16, 1), new Question(HEUR_MODE_FALLBACK, 16, 0));

    /** Engines that are asked for to be timed. */
    private static final int MOST_TRIALS = 16;

    private final @Nullable GpuContext context;
    private final Tuner tuner;
    private final String none;
    private final long mostWorkspaceBytes;
    private final ReentrantLock lock = new ReentrantLock();
    /** Held by calls that are enqueued. */
    private final ReentrantLock calls = new ReentrantLock();

    private final Map<DnnOperation, DnnAnswer> answers = new HashMap<>();
    private final Map<DnnPlan, Integer> users = new HashMap<>();
    private @Nullable TuningRecords records;
    private @Nullable String unavailable;
    private long handle;
    /**
     * The handle's while none of those that it is called on is safe: when it is told of another one, the library
     * records an event on the one before, and where another thread captures that one meanwhile the driver (580.159)
     * ends the process by a signal. So does the default stream, which a handle begins with.
     */
    private @Nullable GpuStream home;
    /** The stream that the handle was told of last. */
    private long bound;

    private Dnn(@Nullable GpuContext context, Tuner tuner, String none, long mostWorkspaceBytes) {
        this.context = context;
        this.tuner = tuner;
        this.none = none;
        this.mostWorkspaceBytes = mostWorkspaceBytes;
    }

    /** No library, and why. */
    public static Dnn none(String why) {
        return new Dnn(null, Tuner.off(), why, 0);
    }

    /** The library's favourites alone, with the workspace that an engine gives it unless told. */
    public static Dnn of(GpuContext context) {
        return of(context, Tuner.off(), EngineOptions.defaults().libraryWorkspace());
    }

    /**
     * The library for an open device of CUDA's driver.
     *
     * @param tuner of the same device
     * @param mostWorkspaceBytes what one operation may work in
     */
    public static Dnn of(GpuContext context, Tuner tuner, long mostWorkspaceBytes) {
        return new Dnn(context, tuner, "", mostWorkspaceBytes);
    }

    /** What one operation may work in, in bytes. */
    public long mostWorkspaceBytes() {
        return mostWorkspaceBytes;
    }

    /** One line that says why there is no cuDNN; empty where there is one. Starts it when first asked. */
    public String unavailable() {
        lock.lock();
        try {
            String known = unavailable;
            if (known == null) {
                known = start();
                unavailable = known;
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    private String start() {
        GpuContext device = context;
        String absent = device == null ? none : CudnnLibrary.search().reason();
        if (device == null || !absent.isEmpty()) {
            return absent;
        }
        tuner.recording().writeLock().lock();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            GpuStream stream = device.newStream();
            home = stream;
            device.call(() -> {
                CudnnLibrary.CHECK.check(Cudnn.cudnnCreate(out.address()), "cudnnCreate()");
                handle = out.get(ValueLayout.JAVA_LONG, 0);
                bind(stream.handle());
            });
            return "";
        } catch (TenonException e) {
            return String.valueOf(e.getMessage());
        } finally {
            tuner.recording().writeLock().unlock();
        }
    }

    /**
     * Prepares an operation for one more user by the engine that was fastest for convolutions like it, or the one that
     * the library's heuristics rank first among those that are exact enough and fit into the workspace: then the
     * others are timed when the device is idle. Never while the thread captures. A plan that is given back by
     * {@link #release} as often as it was prepared is gone.
     */
    public DnnAnswer prepare(DnnOperation problem) {
        return prepare(problem, null);
    }

    /**
     * The same where a kernel of ours may make the operation; that it was the fastest is an answer then.
     *
     * @param rival timed beside the library's engines; null for none
     */
    public DnnAnswer prepare(DnnOperation problem, @Nullable Rival rival) {
        lock.lock();
        try {
            String absent = unavailable();
            GpuContext device = context;
            if (device == null || !absent.isEmpty()) {
                return new DnnAnswer.Refusal(absent);
            }
            DnnAnswer known = answers.get(problem);
            if (known == null || !known.serves(rival)) {
                DnnAnswer[] made = new DnnAnswer[1];
                device.call(() -> made[0] = ask(problem, rival));
                known = made[0];
                answers.put(problem, known);
            }
            if (known instanceof DnnPlan plan) {
                users.merge(plan, 1, Integer::sum);
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    private DnnAnswer ask(DnnOperation problem, @Nullable Rival rival) {
        TuningRecords found = problem instanceof DnnProblem ? records() : null;
        DnnAnswer known = found == null ? null : known((DnnProblem) problem, rival, found);
        if (known != null) {
            return known;
        }
        try (DnnDescriptors graph = DnnDescriptors.of(problem, handle)) {
            long operations = graph.build();
            int seen = 0;
            for (Question question : QUESTIONS) {
                List<Long> ranked = graph.configurations(operations, question.mode, question.most);
                for (long configuration : ranked.subList(Math.min(question.tried, ranked.size()), ranked.size())) {
                    seen++;
                    long plan = graph.isExact(configuration) ? graph.plan(configuration, mostWorkspaceBytes) : 0;
                    if (plan != 0) {
                        DnnPlan favourite = answer(problem, rival, plan, 1);
                        if (found != null) {
                            tuner.add(favourite, found);
                        }
                        return favourite;
                    }
                }
            }
            return new DnnAnswer.Refusal("cuDNN has no plan for it that is exact and fits into a workspace of "
                    + mostWorkspaceBytes + " bytes, of " + seen);
        } catch (TenonException e) {
            return new DnnAnswer.Refusal(String.valueOf(e.getMessage()));
        }
    }

    private DnnPlan answer(DnnOperation problem, @Nullable Rival rival, long plan, int timed) {
        DnnPlan.Made made = new DnnPlan.Made(handle, plan, DnnDescriptors.workspaceBytes(plan), timed);
        return new DnnPlan(this, problem, rival, made, calls);
    }

    private @Nullable TuningRecords records() {
        if (records == null) {
            records = tuner.records("cuDNN " + Cudnn.cudnnGetVersion());
        }
        return records;
    }

    /** By what was found for problems like it; null for nothing that works here. */
    private @Nullable DnnAnswer known(DnnProblem problem, @Nullable Rival rival, TuningRecords found) {
        Choice choice = found.get(classOf(problem, rival));
        if (choice == null) {
            return null;
        }
        if (choice.algorithm().equals(Rival.ALGORITHM)) {
            return rival == null
                    ? null
                    : new DnnAnswer.Slower("a kernel of ours is faster, " + Choice.words(choice.timed()));
        }
        DnnEngine engine = DnnEngine.parse(choice.algorithm());
        long plan = engine == null ? 0 : plan(problem, engine);
        return plan == 0 ? null : answer(problem, rival, plan, choice.timed());
    }

    String classOf(DnnProblem problem, @Nullable Rival rival) {
        return problem.problemClass() + " in " + mostWorkspaceBytes + Rival.besides(rival);
    }

    /** Held by all that asks the library. */
    Lock guard() {
        return lock;
    }

    /** The engines that may be timed, the library's favourite first. The guard is held, the context current. */
    List<DnnEngine> engines(DnnOperation problem) {
        try (DnnDescriptors graph = DnnDescriptors.of(problem, handle)) {
            long operations = graph.build();
            return graph.configurations(operations, HEUR_MODE_A, MOST_TRIALS).stream()
                    .filter(one -> graph.isExact(one) && !graph.isCompiled(one))
                    .map(graph::engine)
                    .filter(Objects::nonNull)
                    .distinct()
                    .toList();
        }
    }

    /**
     * A plan by an engine, which the caller destroys; 0 where the library has none. The guard is held, the context
     * current.
     */
    long plan(DnnOperation problem, DnnEngine engine) {
        try (DnnDescriptors graph = DnnDescriptors.of(problem, handle)) {
            long configuration = graph.configuration(graph.build(), engine);
            return configuration != 0 && graph.isExact(configuration)
                    ? graph.plan(configuration, mostWorkspaceBytes)
                    : 0;
        } catch (TenonException e) {
            return 0; // the engine is one for other graphs
        }
    }

    /** Gives a plan back; nothing enqueued may use it any more. */
    public void release(DnnPlan plan) {
        lock.lock();
        try {
            if (users.merge(plan, -1, Integer::sum) > 0) {
                return;
            }
            users.remove(plan);
            answers.remove(plan.problem, plan);
        } finally {
            lock.unlock();
        }
        tuner.remove(plan);
        if (context != null && context.healthy()) {
            context.call(plan::destroy);
        }
    }

    /** Sees to it that the handle leaves a stream that it is about to be told of, before others may not touch it. */
    void follow(GpuStream stream) {
        long followed = stream.handle();
        if (followed != bound) {
            stream.beforeLeaving(this, () -> leave(followed));
        }
    }

    /** Tells the handle of no stream that others use, within a call; with {@link #calls} held. */
    void bindHome() {
        GpuStream other = home;
        if (other != null) {
            bind(other.handle());
        }
    }

    /** Tells the handle of a stream, within a call on it; with {@link #calls} held. */
    void bind(long stream) {
        if (stream != bound) {
            CudnnLibrary.CHECK.check(Cudnn.cudnnSetStream(handle, stream), "cudnnSetStream()");
            bound = stream;
        }
    }

    private void leave(long stream) {
        GpuContext device = context;
        calls.lock();
        try {
            if (device != null && handle != 0 && bound == stream) {
                device.call(this::bindHome);
            }
        } finally {
            calls.unlock();
        }
    }

    /** Idempotent; what the library does not give back goes with the context. */
    @Override
    public void close() {
        lock.lock();
        tuner.recording().writeLock().lock(); // as cublasDestroy
        calls.lock(); // a stream that another thread closes has the handle leave it
        try {
            GpuContext device = context;
            if (device != null && handle != 0 && device.healthy()) {
                device.call(() -> {
                    answers.values().forEach(answer -> {
                        if (answer instanceof DnnPlan plan) {
                            plan.destroy();
                        }
                    });
                    CudnnLibrary.CHECK.check(Cudnn.cudnnDestroy(handle), "cudnnDestroy()");
                });
            }
        } finally {
            GpuStream own = home;
            answers.clear();
            users.clear();
            home = null;
            handle = 0;
            bound = 0;
            records = null;
            unavailable = null;
            try {
                if (own != null) {
                    own.close();
                }
            } finally {
                calls.unlock();
                tuner.recording().writeLock().unlock();
                lock.unlock();
            }
        }
    }
}
