package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.ClosedException;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.blas.LtAnswer;
import dev.tenon.cuda.blas.LtProduct;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.dnn.DnnAnswer;
import dev.tenon.cuda.dnn.DnnExpected;
import dev.tenon.cuda.dnn.DnnOperation;
import dev.tenon.cuda.dnn.DnnPlan;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.timing.StartUp;
import dev.tenon.cuda.tuning.Rival;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one program holds: uploads of the constants that it reads, prepared products, the programs of its host steps,
 * and what sessions keep for it. Thread-safe.
 */
final class ProgramResources implements AutoCloseable {
    private final GpuWeights weights;
    /** Guarded by the weights. */
    private final Set<GpuWeights.Layout> uploads = new HashSet<>();

    private final Blas blas;
    private final Dnn dnn;
    private final List<LtProduct> products = new ArrayList<>();
    private final List<DnnPlan> libraryPlans = new ArrayList<>();
    private final List<Program> hostPrograms = new ArrayList<>();
    private final Set<GpuSession> sessions = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    ProgramResources(GpuWeights weights, Blas blas, Dnn dnn) {
        this.weights = weights;
        this.blas = blas;
        this.dnn = dnn;
    }

    /** A product that cuBLASLt makes, prepared until close. */
    synchronized LtAnswer prepare(GemmProblem problem, @Nullable Rival rival) {
        LtAnswer answer = StartUp.asking(() -> blas.prepare(problem, rival));
        if (answer instanceof LtProduct product) {
            products.add(product);
        }
        return answer;
    }

    /**
     * An operation that cuDNN has a plan for, prepared until close.
     *
     * @param expected where a thread may have made the plan
     */
    synchronized DnnAnswer prepare(DnnOperation operation, @Nullable Rival rival, DnnExpected expected) {
        DnnAnswer answer = StartUp.asking(() -> dnn.prepare(operation, rival, expected));
        if (answer instanceof DnnPlan plan) {
            libraryPlans.add(plan);
        }
        return answer;
    }

    /**
     * The address of a constant's elements, which are there when this returns and until close.
     *
     * @see GpuWeights#address
     */
    long address(GpuWeights.Layout layout) {
        return weights.address(layout, uploads);
    }

    /** Whether some plan of the model has uploaded a constant so already. */
    boolean holds(GpuWeights.Layout layout) {
        return weights.holds(layout);
    }

    /** What the programs of a model have in common. @see GpuWeights#lasting */
    Object lasting(Object key, Supplier<?> make) {
        return weights.lasting(key, make);
    }

    /** Where the constants lie. */
    List<DeviceBuffer> buffers() {
        return weights.buffers(uploads);
    }

    /** Makes the plan of a host step runnable until close. @see GpuWeights#onHost */
    synchronized Program onHost(Plan plan, String reason) {
        Program program = weights.onHost(plan, reason);
        hostPrograms.add(program);
        return program;
    }

    /** A session keeps something for the program from now on. */
    void usedBy(GpuSession session) {
        sessions.add(session);
    }

    /** The session keeps nothing any more. */
    void leftBy(GpuSession session) {
        sessions.remove(session);
    }

    /** @throws ClosedException after close */
    void requireOpen() {
        if (closed) {
            throw new ClosedException("the program is closed: its plan was evicted or its model closed");
        }
    }

    /**
     * Gives everything back, on every session as well. The program is not run any more. Idempotent; a close that
     * failed may be called again and goes on where it ended.
     */
    @Override
    public synchronized void close() {
        closed = true;
        Closing closing = new Closing();
        closing.each(sessions, session -> session.closeDropped(this));
        closing.each(products, blas::release);
        closing.each(libraryPlans, dnn::release);
        closing.each(hostPrograms, program -> weights.closeOnHost(program));
        closing.step(() -> weights.release(uploads));
        closing.end();
    }
}
