package dev.tenon.cuda.dnn;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.cuda.dnn.DnnMaker.Made;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tuner;
import dev.tenon.cuda.tuning.TuningRecords;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
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
    /** That make plans ahead. */
    private static final int MOST_THREADS = 8;

    private final @Nullable GpuContext context;
    private final Tuner tuner;
    private final String none;
    private final long mostWorkspaceBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<DnnOperation, DnnAnswer> answers = new HashMap<>();
    private final Map<DnnPlan, Integer> users = new HashMap<>();
    /** Held while engines are timed. */
    private final ReentrantLock timing = new ReentrantLock();

    private volatile @Nullable DnnMakers makers;
    private volatile @Nullable Ahead<DnnAsked, Made> ahead;
    private volatile @Nullable String unavailable;
    private volatile @Nullable DnnCaller caller;

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
        String before = unavailable;
        if (before != null) {
            return before;
        }
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
        try {
            caller = new DnnCaller(device, tuner.recording().writeLock());
            DnnMakers started = new DnnMakers(device, tuner, mostWorkspaceBytes);
            makers = started;
            ahead = new Ahead<>(
                    threads(),
                    asked -> started.with(maker -> maker.ask(asked)),
                    made -> destroy(device, made),
                    device::start);
            return "";
        } catch (TenonException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** That make plans ahead, beside the one that asks for them. */
    private static int threads() {
        return Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors() / 2);
    }

    /** For the operations of one plan; nothing is done where there is no library. The caller closes it. */
    public DnnExpected expected() {
        return new DnnExpected(this);
    }

    /** Null where there is no library. */
    Ahead<DnnAsked, Made>.@Nullable Batch begin() {
        Ahead<DnnAsked, Made> threads = context == null || !unavailable().isEmpty() ? null : ahead;
        return threads == null ? null : threads.begin();
    }

    /** Whether an answer is known. */
    boolean knows(DnnAsked asked) {
        lock.lock();
        try {
            DnnAnswer known = answers.get(asked.problem());
            return known != null && known.serves(asked.rivalled());
        } finally {
            lock.unlock();
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
        try (DnnExpected none = expected()) {
            return prepare(problem, rival, none);
        }
    }

    /**
     * The same of an operation that may have been expected.
     *
     * @param expected where a thread may have made the plan
     */
    public DnnAnswer prepare(DnnOperation problem, @Nullable Rival rival, DnnExpected expected) {
        String absent = unavailable();
        GpuContext device = context;
        DnnMakers making = makers;
        DnnCaller calling = caller;
        if (device == null || making == null || calling == null || !absent.isEmpty()) {
            return new DnnAnswer.Refusal(absent);
        }
        DnnAnswer known = used(problem, rival);
        if (known != null) {
            return known;
        }
        DnnAsked asked = new DnnAsked(problem, rival != null);
        Made ahead = expected.take(asked);
        Made made = ahead == null ? making.with(maker -> maker.ask(asked)) : ahead; // others may prepare meanwhile
        lock.lock();
        try {
            known = used(problem, rival);
            if (known != null) {
                destroy(device, made); // another thread was faster
                return known;
            }
            DnnAnswer answer = switch (made) {
                case DnnMaker.None none -> none.answer();
                case DnnMaker.Plan plan -> new DnnPlan(this, problem, rival, plan, calling);
            };
            answers.put(problem, answer);
            if (answer instanceof DnnPlan plan) {
                users.put(plan, 1);
                TuningRecords found = making.found();
                if (found != null && problem instanceof DnnProblem convolution && ((DnnMaker.Plan) made).mayBeTimed()) {
                    tuner.add(plan, found);
                    Ahead<DnnAsked, Made> threads = this.ahead;
                    if (rival != null && threads != null) {
                        making.rehearse(convolution, rival, threads::later);
                    }
                }
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    /** How many kinds of convolutions run by a kernel of ours where their size is new. */
    public int rehearsed() {
        DnnMakers making = makers;
        return making == null ? 0 : making.rehearsed();
    }

    /** What is known already, with one more user; null for nothing. */
    private @Nullable DnnAnswer used(DnnOperation problem, @Nullable Rival rival) {
        lock.lock();
        try {
            DnnAnswer known = answers.get(problem);
            if (known == null || !known.serves(rival != null)) {
                return null;
            }
            if (known instanceof DnnPlan plan) {
                users.merge(plan, 1, Integer::sum);
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    /** Of a plan that nothing runs by. */
    private static void destroy(GpuContext device, Made made) {
        if (made instanceof DnnMaker.Plan plan && device.healthy()) {
            device.call(plan::destroy);
        }
    }

    String classOf(DnnProblem problem, @Nullable Rival rival) {
        return DnnMaker.classOf(problem, rival != null, mostWorkspaceBytes);
    }

    /** Held by what times engines: those who prepare operations do not wait for it. */
    Lock guard() {
        return timing;
    }

    /** The engines that may be timed, the library's favourite first. */
    List<DnnEngine> engines(DnnOperation problem) {
        return makers().with(maker -> maker.engines(problem));
    }

    /** A plan by an engine, which the caller destroys; 0 where the library has none. */
    long plan(DnnOperation problem, DnnEngine engine) {
        return makers().with(maker -> maker.plan(problem, engine));
    }

    private DnnMakers makers() {
        return Objects.requireNonNull(makers, "cuDNN is not started");
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

    /** Idempotent; what the library does not give back goes with the context. */
    @Override
    public void close() {
        Ahead<DnnAsked, Made> threads = ahead;
        if (threads != null) {
            threads.close(); // what they are at needs no lock of ours
        }
        lock.lock();
        tuner.recording().writeLock().lock(); // as cublasDestroy
        try {
            GpuContext device = context;
            DnnMakers making = makers;
            DnnCaller calling = caller;
            Closing closing = new Closing();
            if (device != null && making != null && device.healthy()) {
                for (DnnAnswer answer : answers.values()) {
                    if (answer instanceof DnnPlan plan) {
                        closing.step(() -> device.call(plan::destroy));
                    }
                }
                closing.step(() -> device.call(making::close));
            }
            if (calling != null) {
                closing.step(calling::close);
            }
            closing.end();
        } finally {
            answers.clear();
            users.clear();
            caller = null;
            makers = null;
            ahead = null;
            unavailable = null;
            tuner.recording().writeLock().unlock();
            lock.unlock();
        }
    }
}
