package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.HEUR_MODE_A;
import static dev.tenon.nativelib.cudnn.CudnnConstants.HEUR_MODE_FALLBACK;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.nativelib.cudnn.Cudnn;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    private final @Nullable GpuContext context;
    private final String none;
    private final long mostWorkspaceBytes;
    private final ReentrantLock lock = new ReentrantLock();
    /** Held by calls that are enqueued. */
    private final ReentrantLock calls = new ReentrantLock();

    private final Map<DnnOperation, DnnAnswer> answers = new HashMap<>();
    private final Map<DnnPlan, Integer> users = new HashMap<>();
    private @Nullable String unavailable;
    private long handle;

    private Dnn(@Nullable GpuContext context, String none, long mostWorkspaceBytes) {
        this.context = context;
        this.none = none;
        this.mostWorkspaceBytes = mostWorkspaceBytes;
    }

    /** No library, and why. */
    public static Dnn none(String why) {
        return new Dnn(null, why, 0);
    }

    /** The library for an open device of CUDA's driver, with the workspace that an engine gives it unless told. */
    public static Dnn of(GpuContext context) {
        return of(context, EngineOptions.defaults().libraryWorkspace());
    }

    /**
     * The library for an open device of CUDA's driver.
     *
     * @param mostWorkspaceBytes what one operation may work in
     */
    public static Dnn of(GpuContext context, long mostWorkspaceBytes) {
        return new Dnn(context, "", mostWorkspaceBytes);
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
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            device.call(() -> CudnnLibrary.CHECK.check(Cudnn.cudnnCreate(out.address()), "cudnnCreate()"));
            handle = out.get(ValueLayout.JAVA_LONG, 0);
            return "";
        } catch (TenonException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /**
     * Prepares an operation for one more user by the plan that the library's heuristics rank first among those that
     * are exact enough and fit into the workspace. Never while the thread captures. A plan that is given back by
     * {@link #release} as often as it was prepared is gone.
     */
    public DnnAnswer prepare(DnnOperation problem) {
        lock.lock();
        try {
            String absent = unavailable();
            GpuContext device = context;
            if (device == null || !absent.isEmpty()) {
                return new DnnAnswer.Refusal(absent);
            }
            DnnAnswer known = answers.get(problem);
            if (known == null) {
                DnnAnswer[] made = new DnnAnswer[1];
                device.call(() -> made[0] = ask(problem));
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

    private DnnAnswer ask(DnnOperation problem) {
        try (DnnDescriptors graph = DnnDescriptors.of(problem, handle)) {
            long operations = graph.build();
            int seen = 0;
            for (Question question : QUESTIONS) {
                List<Long> ranked = graph.configurations(operations, question.mode, question.most);
                for (long configuration : ranked.subList(Math.min(question.tried, ranked.size()), ranked.size())) {
                    seen++;
                    long plan = graph.isExact(configuration) ? graph.plan(configuration, mostWorkspaceBytes) : 0;
                    if (plan != 0) {
                        return new DnnPlan(problem, handle, plan, graph.workspaceBytes(plan), calls);
                    }
                }
            }
            return new DnnAnswer.Refusal("cuDNN has no plan for it that is exact and fits into a workspace of "
                    + mostWorkspaceBytes + " bytes, of " + seen);
        } catch (TenonException e) {
            return new DnnAnswer.Refusal(String.valueOf(e.getMessage()));
        }
    }

    /** Gives a plan back; nothing enqueued may use it any more. */
    public void release(DnnPlan plan) {
        lock.lock();
        try {
            GpuContext device = context;
            if (users.merge(plan, -1, Integer::sum) > 0) {
                return;
            }
            users.remove(plan);
            answers.remove(plan.problem, plan);
            if (device != null && device.healthy()) {
                device.call(plan::destroy);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Idempotent; what the library does not give back goes with the context. */
    @Override
    public void close() {
        lock.lock();
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
            answers.clear();
            users.clear();
            handle = 0;
            unavailable = null;
            lock.unlock();
        }
    }
}
