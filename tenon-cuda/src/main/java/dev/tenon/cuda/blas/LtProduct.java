package dev.tenon.cuda.blas;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Choice;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tunable;
import dev.tenon.nativelib.cublas.CublasConstants;
import dev.tenon.nativelib.cublas.CublasLibrary;
import dev.tenon.nativelib.cublas.CublasLt;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A product that cuBLASLt has been asked about: descriptors, layouts and the algorithm it would take. Made once for a
 * problem and a device, and used by all sessions; lives as long as its {@link Blas}. Row-major operands are the
 * transposes of column-major ones, so the library computes {@code dᵀ = bᵀ aᵀ}, and its bias of a number a row is ours
 * of a number a column.
 */
public final class LtProduct implements LtAnswer, Tunable {
    /** What the library may rely on: values start on 64-byte boundaries. */
    private static final int ALIGNMENT = 64;

    private static final int MOST_CANDIDATES = 8;

    final GemmProblem problem;
    final long handle;
    final long workspaceBytes;
    /**
     * The bias's address is part of the descriptor, which sessions share: held from setting it until the call has read
     * it.
     */
    final ReentrantLock lock = new ReentrantLock();

    private final @Nullable Rival rival;
    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> candidates = new ArrayList<>();
    /** Never written again once it is here; another one takes its place. */
    private volatile MemorySegment algorithm = MemorySegment.NULL;

    private volatile int timed = 1;
    /** Whether it runs by a sibling's algorithm, and the library was not asked for its own. */
    private boolean borrowed;
    /** Whether a rival may run until it is timed: its algorithm's kernel may have to be loaded. Set by the asker. */
    boolean later;

    /** How many plans hold it. Guarded by the libraries' lock. */
    int users;

    private final MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
    private String refusal = "";
    private long desc;
    private long layoutA;
    private long layoutB;
    private long layoutD;

    /**
     * The context is current.
     *
     * @param known what was found for problems like this one; null for nothing
     * @param sibling an algorithm of a number of rows near this one's, where nothing was found; null for none
     * @param rival timed beside the library's algorithms; null for none
     */
    LtProduct(
            GemmProblem problem,
            long handle,
            long workspaceBytes,
            @Nullable Choice known,
            @Nullable String sibling,
            @Nullable Rival rival) {
        this.problem = problem;
        this.handle = handle;
        this.workspaceBytes = workspaceBytes;
        this.rival = rival;
        try {
            describe();
            boolean found = known != null && adopt(known);
            borrowed = !found && sibling != null && adopt(new Choice(sibling, 1));
            if (!found && !borrowed) {
                ask();
                algorithm = candidates.isEmpty() ? algorithm : candidates.getFirst();
            }
        } catch (RuntimeException | Error e) {
            destroy();
            throw e;
        }
    }

    /** Why the library has no algorithm for the problem, which then cannot run; empty where it has one. */
    String refusal() {
        return refusal;
    }

    private void describe() {
        check(
                CublasLt.cublasLtMatmulDescCreate(out.address(), GemmTypes.compute(problem), GemmTypes.scale(problem)),
                "cublasLtMatmulDescCreate");
        desc = created();
        set(CublasConstants.MATMUL_DESC_TRANSA, GemmTypes.operation(problem.transposeB()));
        set(CublasConstants.MATMUL_DESC_TRANSB, GemmTypes.operation(problem.transposeA()));
        int epilogue = switch (problem.activation()) {
            case NONE -> 0;
            case RELU -> CublasConstants.EPILOGUE_RELU;
        };
        epilogue |= problem.bias() ? CublasConstants.EPILOGUE_BIAS : 0;
        set(CublasConstants.MATMUL_DESC_EPILOGUE, epilogue == 0 ? CublasConstants.EPILOGUE_DEFAULT : epilogue);
        if (problem.bias()) {
            set(CublasConstants.MATMUL_DESC_BIAS_DATA_TYPE, GemmTypes.data(problem.operands()));
        }
        int operands = GemmTypes.data(problem.operands());
        layoutB = layout(operands, problem.rowB(), problem.transposeB() ? problem.n() : problem.k(), problem.strideB());
        layoutA = layout(operands, problem.rowA(), problem.transposeA() ? problem.k() : problem.m(), problem.strideA());
        layoutD = layout(GemmTypes.data(problem.result()), problem.n(), problem.m(), problem.m() * problem.n());
    }

    private void ask() {
        check(CublasLt.cublasLtMatmulPreferenceCreate(out.address()), "cublasLtMatmulPreferenceCreate");
        long preference = created();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment value = scratch.allocate(ValueLayout.JAVA_LONG);
            value.set(ValueLayout.JAVA_LONG, 0, workspaceBytes);
            check(
                    CublasLt.cublasLtMatmulPreferenceSetAttribute(
                            preference, CublasConstants.MATMUL_PREF_MAX_WORKSPACE_BYTES, value.address(), 8),
                    "cublasLtMatmulPreferenceSetAttribute");
            // parts of a sum are never added up in a narrower type than it is computed in
            prefer(
                    preference,
                    CublasConstants.MATMUL_PREF_REDUCTION_SCHEME_MASK,
                    value,
                    CublasConstants.REDUCTION_SCHEME_COMPUTE_TYPE);
            for (int attribute = CublasConstants.MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
                    attribute <= CublasConstants.MATMUL_PREF_MIN_ALIGNMENT_D_BYTES;
                    attribute++) {
                prefer(preference, attribute, value, ALIGNMENT);
            }
            MemorySegment results =
                    scratch.allocate(MOST_CANDIDATES * (long) CublasConstants.HEURISTIC_RESULT_BYTES, 8);
            MemorySegment found = scratch.allocate(ValueLayout.JAVA_INT);
            int status = CublasLt.cublasLtMatmulAlgoGetHeuristic(
                    handle,
                    desc,
                    layoutB,
                    layoutA,
                    layoutD,
                    layoutD,
                    preference,
                    MOST_CANDIDATES,
                    results.address(),
                    found.address());
            for (int i = 0; status == 0 && i < found.get(ValueLayout.JAVA_INT, 0); i++) {
                MemorySegment result = results.asSlice(
                        i * (long) CublasConstants.HEURISTIC_RESULT_BYTES, CublasConstants.HEURISTIC_RESULT_BYTES);
                if (result.get(ValueLayout.JAVA_INT, CublasConstants.HEURISTIC_RESULT_STATE) == 0) {
                    MemorySegment one = arena.allocate(CublasConstants.ALGO_BYTES, 8);
                    candidates.add(one.copyFrom(result.asSlice(0, CublasConstants.ALGO_BYTES)));
                }
            }
            if (candidates.isEmpty()) {
                refusal = "cuBLASLt has no algorithm for it"
                        + (status == 0
                                ? ""
                                : ": " + CublasLibrary.CHECK_LT.message(status, "cublasLtMatmulAlgoGetHeuristic"));
            }
        } finally {
            CublasLt.cublasLtMatmulPreferenceDestroy(preference);
        }
    }

    private static void prefer(long preference, int attribute, MemorySegment value, int number) {
        value.set(ValueLayout.JAVA_INT, 0, number);
        check(
                CublasLt.cublasLtMatmulPreferenceSetAttribute(preference, attribute, value.address(), 4),
                "cublasLtMatmulPreferenceSetAttribute");
    }

    @Override
    public Lock guard() {
        return lock;
    }

    @Override
    public String problemClass() {
        return problemClass(problem, workspaceBytes, rival);
    }

    /**
     * A class of problems that one algorithm suits: all but the number of rows alike, and that within a factor of 1.5.
     */
    static String problemClass(GemmProblem problem, long workspaceBytes, @Nullable Rival rival) {
        return "rows " + Tunable.near(problem.m()) + " of " + problem.withRows(1) + " in " + workspaceBytes
                + Rival.besides(rival != null);
    }

    /** Whether several algorithms may be timed: those that the library offers, and the rival's. */
    boolean mayBeTimed() {
        return borrowed || candidates.size() + (rival == null ? 0 : 1) > 1;
    }

    /** In words. */
    String algorithm() {
        return new LtTrial(this, algorithm).algorithm();
    }

    /** Whether the algorithm was the fastest of several that were timed. */
    public boolean isFound() {
        return timed > 1;
    }

    /**
     * Whether its algorithm is the first of sizes like its own, in a stream of sizes that ran by others, and nothing
     * was timed: the library would load a kernel for it, which takes as long as thousands of products.
     */
    public boolean isLater() {
        return later && !isFound();
    }

    /** Whether the algorithm is not its own: {@link #algorithm} says nothing new. */
    boolean isBorrowed() {
        return borrowed;
    }

    @Override
    public List<Trial> trials() {
        if (borrowed && candidates.isEmpty()) {
            ask();
        }
        List<Trial> all = new ArrayList<>();
        if (borrowed) {
            all.add(new LtTrial(this, algorithm));
        }
        candidates.forEach(algorithm -> all.add(new LtTrial(this, algorithm)));
        if (rival != null) {
            all.add(Math.min(1, all.size()), rival.trial()); // behind the favourite: there may be no time for the last
        }
        return all;
    }

    @Override
    public long trialBytes() {
        long bytes = LtTrial.Operands.of(this).bytes();
        return rival == null ? bytes : Math.max(bytes, rival.trialBytes());
    }

    @Override
    public boolean take(Choice choice) {
        // the next that is prepared runs by a rival
        return choice.algorithm().equals(Rival.ALGORITHM) ? rival != null : adopt(choice);
    }

    private boolean adopt(Choice choice) {
        byte[] bytes = LtTrial.bytes(choice.algorithm());
        if (bytes.length != CublasConstants.ALGO_BYTES) {
            return false;
        }
        MemorySegment chosen = arena.allocate(CublasConstants.ALGO_BYTES, 8);
        chosen.copyFrom(MemorySegment.ofArray(bytes));
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment result = confined.allocate(CublasConstants.HEURISTIC_RESULT_BYTES, 8);
            int status = CublasLt.cublasLtMatmulAlgoCheck(
                    handle, desc, layoutB, layoutA, layoutD, layoutD, chosen.address(), result.address());
            if (status != 0
                    || result.get(ValueLayout.JAVA_INT, CublasConstants.HEURISTIC_RESULT_STATE) != 0
                    || result.get(ValueLayout.JAVA_LONG, CublasConstants.HEURISTIC_RESULT_WORKSPACE) > workspaceBytes) {
                return false;
            }
        }
        timed = choice.timed();
        algorithm = chosen;
        return true;
    }

    /**
     * How the algorithm was chosen, in words: empty where it is the library's favourite, {@code autotuned over 5} where
     * so many were timed.
     */
    public String chosen() {
        return Choice.words(timed);
    }

    /** Enqueues it by an algorithm that is not its own yet. */
    void enqueue(GpuStream stream, MemorySegment by, long a, long b, long c, long d, long bias, long workspace) {
        lock.lock();
        try {
            stream.call(() -> call(by, a, b, c, d, bias, workspace, stream.handle()));
        } finally {
            lock.unlock();
        }
    }

    /** The context is current, and where there is a bias the lock is held. */
    void call(long a, long b, long c, long d, long bias, long workspace, long stream) {
        call(algorithm, a, b, c, d, bias, workspace, stream);
    }

    private void call(MemorySegment by, long a, long b, long c, long d, long bias, long workspace, long stream) {
        if (problem.bias()) {
            set(CublasConstants.MATMUL_DESC_BIAS_POINTER, bias);
        }
        int status = CublasLt.cublasLtMatmul(
                handle,
                desc,
                GemmTypes.one(problem),
                b,
                layoutB,
                a,
                layoutA,
                problem.addend() ? GemmTypes.one(problem) : GemmTypes.zero(problem),
                problem.addend() ? c : d,
                layoutD,
                d,
                layoutD,
                by.address(),
                workspace,
                workspaceBytes,
                stream);
        if (status != 0) {
            CublasLibrary.CHECK_LT.check(status, "cublasLtMatmul(%s)", problem);
        }
    }

    void destroy() {
        if (desc != 0) {
            CublasLt.cublasLtMatmulDescDestroy(desc);
        }
        for (long layout : new long[] {layoutA, layoutB, layoutD}) {
            if (layout != 0) {
                CublasLt.cublasLtMatrixLayoutDestroy(layout);
            }
        }
        arena.close();
    }

    /** A column-major matrix, and how far the next one is. */
    private long layout(int type, long rows, long columns, long stride) {
        check(
                CublasLt.cublasLtMatrixLayoutCreate(out.address(), type, rows, columns, rows),
                "cublasLtMatrixLayoutCreate");
        long layout = created();
        if (problem.batches() > 1) {
            out.set(ValueLayout.JAVA_INT, 0, SizeMath.toInt("matmul batches", problem.batches()));
            check(
                    CublasLt.cublasLtMatrixLayoutSetAttribute(
                            layout, CublasConstants.MATRIX_LAYOUT_BATCH_COUNT, out.address(), 4),
                    "cublasLtMatrixLayoutSetAttribute");
            out.set(ValueLayout.JAVA_LONG, 0, stride);
            check(
                    CublasLt.cublasLtMatrixLayoutSetAttribute(
                            layout, CublasConstants.MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, out.address(), 8),
                    "cublasLtMatrixLayoutSetAttribute");
        }
        return layout;
    }

    private void set(int attribute, int value) {
        out.set(ValueLayout.JAVA_INT, 0, value);
        check(
                CublasLt.cublasLtMatmulDescSetAttribute(desc, attribute, out.address(), 4),
                "cublasLtMatmulDescSetAttribute");
    }

    private void set(int attribute, long value) {
        out.set(ValueLayout.JAVA_LONG, 0, value);
        check(
                CublasLt.cublasLtMatmulDescSetAttribute(desc, attribute, out.address(), 8),
                "cublasLtMatmulDescSetAttribute");
    }

    private long created() {
        return out.get(ValueLayout.JAVA_LONG, 0);
    }

    private static void check(int status, String call) {
        CublasLibrary.CHECK_LT.check(status, call);
    }
}
