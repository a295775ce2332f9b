package dev.tenon.cuda.blas;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cuda.blas.GemmProblem.Activation;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Choice;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Siblings;
import dev.tenon.cuda.tuning.Tuner;
import dev.tenon.cuda.tuning.TuningRecords;
import dev.tenon.nativelib.cublas.Cublas;
import dev.tenon.nativelib.cublas.CublasConstants;
import dev.tenon.nativelib.cublas.CublasLibrary;
import dev.tenon.nativelib.cublas.CublasLt;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The matrix libraries of one open device, cuBLAS and cuBLASLt. Opening it loads nothing: libraries are looked for, and
 * started, when something is first asked. Thread-safe. Close it after its handles and before the context.
 */
public final class Blas implements AutoCloseable {
    private static final long MIB = 1 << 20;

    /** Like what models begin with; what the library answers is of no interest. */
    private static final GemmProblem USUAL = new GemmProblem(
            1, 128, 384, 384, false, true, 0, 0, DType.F32, DType.F32, false, true, Activation.NONE, true);

    /** A library on this device: its handle, 0 where there is none, and why. */
    private record Started(long handle, String unavailable) {}

    private final @Nullable GpuContext context;
    private final Tuner tuner;
    private final String none;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<GemmProblem, LtAnswer> answers = new HashMap<>();
    private final Siblings<GemmProblem> siblings = new Siblings<>();
    private volatile @Nullable Thread starting;
    private @Nullable TuningRecords records;
    private @Nullable Started cublas;
    private @Nullable Started lt;
    /** Whether cuBLAS's first handle, made to see that it starts, waits for its first user. */
    private boolean spare;

    private Blas(@Nullable GpuContext context, Tuner tuner, String none) {
        this.context = context;
        this.tuner = tuner;
        this.none = none;
    }

    /** No library, and why. */
    public static Blas none(String why) {
        return new Blas(null, Tuner.off(), why);
    }

    /**
     * The libraries for an open device of CUDA's driver.
     *
     * @param tuner of the same device
     */
    public static Blas of(GpuContext context, Tuner tuner) {
        return new Blas(context, tuner, "");
    }

    /** One line that says why there is no cuBLAS; empty where there is one. Starts it when first asked. */
    public String unavailable() {
        return cublas().unavailable();
    }

    /** One line that says why there is no cuBLASLt; empty where there is one. Starts it when first asked. */
    public String ltUnavailable() {
        lock.lock();
        try {
            return lt().unavailable();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Bytes of device memory that each library call is given. The makers' advice: 32 MiB from compute capability 9.0,
     * else 4.
     */
    public long workspaceBytes() {
        return context != null && context.device().architecture().number() >= 90 ? 32 * MIB : 4 * MIB;
    }

    /** A handle for one stream. It starts no library: the first call of one does. */
    public BlasHandle newHandle(GpuStream stream) {
        return new BlasHandle(this, stream);
    }

    /** A handle of cuBLAS for a stream. @throws UnsupportedException where there is none */
    long startOn(GpuStream stream) {
        lock.lock();
        try {
            Started first = cublas();
            GpuContext device = context;
            if (device == null || first.handle() == 0) {
                throw new UnsupportedException(first.unavailable());
            }
            long[] handle = {spare ? first.handle() : 0};
            device.call(() -> {
                handle[0] = handle[0] == 0 ? create() : handle[0];
                CublasLibrary.CHECK.check(Cublas.cublasSetStream(handle[0], stream.handle()), "cublasSetStream()");
            });
            spare = false;
            return handle[0];
        } finally {
            lock.unlock();
        }
    }

    /** Looks for cuBLASLt and opens its file, so that the first product need not wait for it. Never throws. */
    public static void open() {
        try {
            CublasLibrary.searchLt();
        } catch (OutOfMemoryError e) {
            // the first product looks again
        }
    }

    /** Starts cuBLASLt on a thread of its own: its first answer takes 70 ms, which the first product need not wait. */
    public void startAhead() {
        GpuContext device = context;
        if (device == null) {
            return;
        }
        Thread fresh = Thread.ofPlatform().daemon().name("tenon-libraries").unstarted(() -> startLt(device));
        try {
            device.start(fresh);
            starting = fresh;
        } catch (OutOfMemoryError e) {
            // no thread is to be had: the first product starts it
        }
    }

    /** Holds the lock until there is a handle: meanwhile others may ask about products whose algorithm is known. */
    private void startLt(GpuContext device) {
        try {
            long library = ltHandle();
            if (library != 0) {
                device.call(() -> new LtProduct(USUAL, library, workspaceBytes(), null, null, null).destroy());
            }
        } catch (TenonException | OutOfMemoryError e) {
            // the first product meets the same, and says so
        }
    }

    private long ltHandle() {
        lock.lock();
        try {
            return lt().handle();
        } finally {
            lock.unlock();
        }
    }

    /** Whether there is a device that libraries could be started on. Starts none. */
    public boolean mayStart() {
        return context != null;
    }

    /**
     * Prepares a product for one more user, by the algorithm that was fastest for problems like it, or the library's
     * favourite: then the others are timed when the device is idle. Never while the thread captures. A product that is
     * given back by {@link #release} as often as it was prepared is gone.
     */
    public LtAnswer prepare(GemmProblem problem) {
        return prepare(problem, null);
    }

    /**
     * The same where a kernel of ours may make the product; that it was the fastest is an answer then.
     *
     * @param rival timed beside the library's algorithms; null for none
     */
    public LtAnswer prepare(GemmProblem problem, @Nullable Rival rival) {
        lock.lock();
        try {
            LtAnswer known = answers.get(problem);
            if (known == null || !known.serves(rival)) {
                Started library = lt();
                GpuContext device = context;
                if (device == null || library.handle() == 0) {
                    return new LtAnswer.Refusal(library.unavailable());
                }
                known = ask(problem, rival, device, library.handle());
                answers.put(problem, known);
            }
            if (known instanceof LtProduct product) {
                product.users++;
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    /** Gives a prepared product back; nothing enqueued may use it any more. */
    public void release(LtProduct product) {
        lock.lock();
        try {
            GpuContext device = context;
            if (--product.users > 0 || device == null || answers.get(product.problem) != product) {
                return;
            }
            answers.remove(product.problem);
        } finally {
            lock.unlock();
        }
        tuner.remove(product);
        if (context != null && context.healthy()) {
            context.call(product::destroy);
        }
    }

    private LtAnswer ask(GemmProblem problem, @Nullable Rival rival, GpuContext device, long library) {
        LtProduct[] made = new LtProduct[1];
        TuningRecords found = records();
        Choice choice = found == null ? null : found.get(LtProduct.problemClass(problem, workspaceBytes(), rival));
        if (choice != null && rival != null && choice.algorithm().equals(Rival.ALGORITHM)) {
            return new LtAnswer.Slower(Rival.faster(choice.timed()));
        }
        GemmProblem kind = problem.withRows(1);
        String sibling = found == null || choice != null ? null : sibling(kind, problem.m(), rival);
        device.call(() -> made[0] = new LtProduct(problem, library, workspaceBytes(), choice, sibling, rival));
        LtProduct product = made[0];
        if (!product.refusal().isEmpty()) {
            device.call(product::destroy);
            return new LtAnswer.Refusal(product.refusal());
        }
        product.later = found != null
                && choice == null
                && rival != null
                && !product.isBorrowed()
                && siblings.isLater(kind, problem.m());
        if (!product.isBorrowed() && !product.later) {
            siblings.put(kind, problem.m(), product.algorithm());
        }
        if (found != null && product.mayBeTimed()) {
            tuner.add(product, found);
        }
        return product;
    }

    /** The algorithm to begin with; a rival is sooner than one that was made for quite another size. */
    private @Nullable String sibling(GemmProblem kind, long rows, @Nullable Rival rival) {
        return rival == null ? siblings.inStream(kind, rows) : siblings.near(kind, rows);
    }

    private @Nullable TuningRecords records() {
        if (records == null) {
            records = tuner.records("cuBLASLt " + CublasLt.cublasLtGetVersion());
        }
        return records;
    }

    private Started cublas() {
        lock.lock();
        try {
            if (cublas == null) {
                cublas = start(CublasLibrary.search().reason(), Blas::create);
                spare = cublas.handle() != 0;
            }
            return cublas;
        } finally {
            lock.unlock();
        }
    }

    private Started lt() {
        if (lt == null) {
            lt = start(CublasLibrary.searchLt().reason(), Blas::createLt);
        }
        return lt;
    }

    private Started start(String absent, LongSupplier create) {
        GpuContext device = context;
        if (device == null || !absent.isEmpty()) {
            return new Started(0, device == null ? none : absent);
        }
        long[] handle = new long[1];
        try {
            device.call(() -> handle[0] = create.getAsLong());
            return new Started(handle[0], "");
        } catch (TenonException e) {
            return new Started(0, String.valueOf(e.getMessage()));
        }
    }

    private static long create() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            CublasLibrary.CHECK.check(Cublas.cublasCreate(out.address()), "cublasCreate()");
            long handle = out.get(ValueLayout.JAVA_LONG, 0);
            // no mode of the handle decides about precision: each call states it
            CublasLibrary.CHECK.check(
                    Cublas.cublasSetMathMode(handle, CublasConstants.DEFAULT_MATH), "cublasSetMathMode()");
            return handle;
        }
    }

    private static long createLt() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            CublasLibrary.CHECK_LT.check(CublasLt.cublasLtCreate(out.address()), "cublasLtCreate()");
            return out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /**
     * cublasDestroy waits for the whole context, and the driver (580.159) ends the process by a signal when another
     * thread records work meanwhile.
     */
    void destroy(long handle) {
        GpuContext device = context;
        if (handle != 0 && device != null && device.healthy()) {
            tuner.recording().writeLock().lock();
            try {
                device.call(() -> CublasLibrary.CHECK.check(Cublas.cublasDestroy(handle), "cublasDestroy()"));
            } finally {
                tuner.recording().writeLock().unlock();
            }
        }
    }

    /**
     * Idempotent; what a library does not give back goes with the context. A library that was started can be asked
     * again afterwards, which starts it anew.
     */
    @Override
    public void close() {
        Thread ahead = starting;
        if (ahead != null) {
            Uninterrupted.run(ahead::join); // the context must not be closed before
        }
        lock.lock();
        try {
            GpuContext device = context;
            Started library = lt;
            if (spare && cublas != null) {
                destroy(cublas.handle());
            }
            if (device != null && library != null && library.handle() != 0 && device.healthy()) {
                device.call(() -> {
                    answers.values().forEach(answer -> {
                        if (answer instanceof LtProduct product) {
                            product.destroy();
                        }
                    });
                    CublasLibrary.CHECK_LT.check(CublasLt.cublasLtDestroy(library.handle()), "cublasLtDestroy()");
                });
            }
        } finally {
            answers.clear();
            records = null;
            spare = false;
            cublas = null;
            lt = null;
            lock.unlock();
        }
    }
}
