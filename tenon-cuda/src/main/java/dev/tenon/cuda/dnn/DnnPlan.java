package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.TYPE_INT64;
import static dev.tenon.nativelib.cudnn.CudnnConstants.TYPE_VOID_PTR;
import static dev.tenon.nativelib.cudnn.CudnnConstants.VARIANT_PACK_DATA_POINTERS;
import static dev.tenon.nativelib.cudnn.CudnnConstants.VARIANT_PACK_DESCRIPTOR;
import static dev.tenon.nativelib.cudnn.CudnnConstants.VARIANT_PACK_UNIQUE_IDS;
import static dev.tenon.nativelib.cudnn.CudnnConstants.VARIANT_PACK_WORKSPACE;

import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Choice;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tunable;
import dev.tenon.nativelib.cudnn.Cudnn;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * An operation that cuDNN has a plan for, or will have once its engines are timed. Made once for a problem and a
 * device, and used by all sessions; lives as long as its {@link Dnn}. Thread-safe.
 */
public final class DnnPlan implements DnnAnswer, Tunable {
    private static final int MOST_OPERANDS = 6;

    final DnnOperation problem;
    private final Dnn dnn;
    private final @Nullable Rival rival;
    private final DnnCaller caller;
    private final long workspaceBytes;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
    private final MemorySegment numbers = arena.allocate(ValueLayout.JAVA_LONG, MOST_OPERANDS);
    private final MemorySegment pointers = arena.allocate(ValueLayout.JAVA_LONG, MOST_OPERANDS);
    private final MemorySegment workspace = arena.allocate(ValueLayout.JAVA_LONG);
    private final Runnable execute = this::execute;
    private final int operands;
    /** 0 until the fastest engine is known, where a kernel of ours runs until then. */
    private volatile long plan;
    /** Those before it, which recordings may still run by. Touched while engines are timed, then by the end. */
    private final List<Long> former = new ArrayList<>();

    private volatile int timed;
    private volatile String unready = "this size is new, and its engines are timed at rest";
    /** Of the call that is being made: a field, so that making one allocates nothing. */
    private long stream;

    private boolean recorded;
    private long called;

    private boolean destroyed;

    DnnPlan(Dnn dnn, DnnOperation problem, @Nullable Rival rival, DnnMaker.Plan made, DnnCaller caller) {
        this.dnn = dnn;
        this.problem = problem;
        this.rival = rival;
        this.caller = caller;
        this.plan = made.plan();
        this.timed = made.timed();
        this.workspaceBytes = made.workspaceBytes();
        List<Long> all = problem.operands();
        for (int i = 0; i < all.size(); i++) {
            numbers.setAtIndex(ValueLayout.JAVA_LONG, i, all.get(i));
        }
        List<Float> scalars = problem.scalars();
        for (int i = 0; i < scalars.size(); i++) {
            long at = arena.allocateFrom(ValueLayout.JAVA_FLOAT, scalars.get(i)).address();
            pointers.setAtIndex(ValueLayout.JAVA_LONG, (long) all.size() - scalars.size() + i, at);
        }
        this.operands = all.size();
    }

    @Override
    public Lock guard() {
        return dnn.guard();
    }

    @Override
    public String problemClass() {
        return dnn.classOf(convolution(), rival);
    }

    private DnnProblem convolution() {
        return (DnnProblem) problem; // what is tuned
    }

    @Override
    public List<Trial> trials() {
        List<Trial> all = new ArrayList<>();
        for (DnnEngine engine : dnn.engines(problem)) {
            all.add(new DnnTrial(dnn, this, convolution(), engine));
        }
        if (rival != null) {
            all.add(Math.min(1, all.size()), rival.trial()); // behind the favourite: there may be no time for the last
        }
        return all;
    }

    @Override
    public @Nullable Trial trial(Choice choice) {
        DnnEngine engine = DnnEngine.parse(choice.algorithm());
        return engine == null ? null : new DnnTrial(dnn, this, convolution(), engine);
    }

    /** Whether calls may be enqueued. Stays so; until then the asker's rival runs. */
    public boolean isReady() {
        return plan != 0;
    }

    /** Why none may be enqueued yet, in words. */
    public String unready() {
        return unready;
    }

    @Override
    public boolean serves(boolean rivalled) {
        return rivalled || isReady();
    }

    @Override
    public long trialBytes() {
        long bytes = DnnTrial.bytes(convolution(), dnn.mostWorkspaceBytes());
        return rival == null ? bytes : Math.max(bytes, rival.trialBytes());
    }

    @Override
    public boolean take(Choice choice) {
        if (choice.algorithm().equals(Rival.ALGORITHM)) {
            unready = Rival.faster(choice.timed());
            return rival != null; // the next that is prepared runs by it
        }
        DnnEngine engine = DnnEngine.parse(choice.algorithm());
        long taken = engine == null ? 0 : dnn.plan(problem, engine);
        if (taken == 0) {
            return false;
        }
        long wanted = DnnDescriptors.workspaceBytes(taken);
        if (wanted > workspaceBytes) {
            unready = "the fastest engine works in " + wanted + " bytes; " + workspaceBytes + " are reserved";
            Cudnn.cudnnBackendDestroyDescriptor(taken);
            return true;
        }
        former.add(plan);
        plan = taken;
        timed = choice.timed();
        return true;
    }

    /** How the engine was chosen, in words: empty where it is the library's favourite. */
    public String chosen() {
        return Choice.words(timed);
    }

    /** Bytes of device memory that a call is given. */
    public long workspaceBytes() {
        return workspaceBytes;
    }

    /**
     * Enqueues an attention; it may be captured.
     *
     * @param memory at least {@link #workspaceBytes()}, of this stream
     */
    public void enqueueAttention(GpuStream on, long q, long k, long v, long y, long memory) {
        caller.lock().lock(); // before the call's section, in which nothing may block
        try {
            pointers.setAtIndex(ValueLayout.JAVA_LONG, 0, q);
            pointers.setAtIndex(ValueLayout.JAVA_LONG, 1, k);
            pointers.setAtIndex(ValueLayout.JAVA_LONG, 2, v);
            pointers.setAtIndex(ValueLayout.JAVA_LONG, 3, y);
            call(on, plan, memory);
        } finally {
            caller.lock().unlock();
        }
    }

    /**
     * Enqueues a convolution; it may be captured.
     *
     * @param bias 0 for none, where the problem has none
     * @param residual likewise
     * @param memory at least {@link #workspaceBytes()}, of this stream
     */
    public void enqueue(GpuStream on, long x, long w, long y, long bias, long residual, long memory) {
        enqueue(0, on, x, w, y, bias, residual, memory);
    }

    /** The same by a plan that is not its own; 0 for its own. */
    void enqueue(long by, GpuStream on, long x, long w, long y, long bias, long residual, long memory) {
        caller.lock().lock(); // before the call's section, in which nothing may block
        try {
            int count = 0;
            pointers.setAtIndex(ValueLayout.JAVA_LONG, count++, x);
            pointers.setAtIndex(ValueLayout.JAVA_LONG, count++, w);
            pointers.setAtIndex(ValueLayout.JAVA_LONG, count++, y);
            if (bias != 0) {
                pointers.setAtIndex(ValueLayout.JAVA_LONG, count++, bias);
            }
            if (residual != 0) {
                pointers.setAtIndex(ValueLayout.JAVA_LONG, count, residual);
            }
            call(on, by == 0 ? plan : by, memory);
        } finally {
            caller.lock().unlock();
        }
    }

    /** A call with the operands' pointers; with the lock held. */
    private void call(GpuStream on, long by, long memory) {
        workspace.set(ValueLayout.JAVA_LONG, 0, memory);
        called = by;
        stream = on.handle();
        recorded = on.recorded();
        caller.follow(on);
        on.call(execute);
    }

    private void execute() {
        caller.bind(stream);
        CudnnLibrary.CHECK.check(
                Cudnn.cudnnBackendCreateDescriptor(VARIANT_PACK_DESCRIPTOR, out.address()),
                "cudnnBackendCreateDescriptor(variant pack)");
        long pack = out.get(ValueLayout.JAVA_LONG, 0);
        try {
            set(pack, VARIANT_PACK_UNIQUE_IDS, TYPE_INT64, operands, numbers);
            set(pack, VARIANT_PACK_DATA_POINTERS, TYPE_VOID_PTR, operands, pointers);
            set(pack, VARIANT_PACK_WORKSPACE, TYPE_VOID_PTR, 1, workspace);
            CudnnLibrary.CHECK.check(Cudnn.cudnnBackendFinalize(pack), "cudnnBackendFinalize(variant pack)");
            int status = Cudnn.cudnnBackendExecute(caller.handle(), called, pack);
            if (status != 0) {
                CudnnLibrary.CHECK.check(status, "cudnnBackendExecute(%s)", problem);
            }
        } finally {
            Cudnn.cudnnBackendDestroyDescriptor(pack);
            if (recorded) {
                caller.bindHome();
            }
        }
    }

    private static void set(long pack, int name, int type, int count, MemorySegment values) {
        CudnnLibrary.CHECK.check(
                Cudnn.cudnnBackendSetAttribute(pack, name, type, count, values.address()),
                "cudnnBackendSetAttribute(%d of a variant pack)",
                name);
    }

    /** Idempotent. The context is current. */
    void destroy() {
        if (!destroyed) {
            destroyed = true;
            DnnMaker.Plan.destroy(plan);
            former.forEach(DnnMaker.Plan::destroy);
            arena.close();
        }
    }
}
