package dev.tenon.cpu.step;

import dev.tenon.core.backend.RunObserver;
import dev.tenon.core.error.OutOfMemoryException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Persistent threads that share loops with the thread that calls, which is worker 0.
 *
 * <p>One loop at a time: a caller that finds the pool busy (another session's loop, or a loop inside a loop) runs its
 * whole loop by itself. A worker that is late to a loop which the others have finished never enters it, so a caller
 * waits only for pieces that are being worked on. Running a loop allocates nothing.
 *
 * <p>Runs {@link #enter enter} in the order in which they asked, at most {@link #RUNS} a worker at a time: of many
 * callers each then waits about as long as any other, and few runs' memory is in the caches. While there are as many
 * runs as workers, each stays on its own thread, since cores are better used so than by sharing loops.
 *
 * <p>Thread-safe.
 */
public final class WorkerPool implements AutoCloseable {
    /**
     * How long a worker spins before it parks: longer than the gap between two steps of a model, too short to matter to
     * others.
     */
    private static final long SPIN_NANOS = 100_000;

    /** Pieces a worker: enough that a core which someone else uses for a while does not hold up the loop. */
    private static final int PIECES = 4;

    /** Runs a worker that may be under way: with one, a core would idle between a run and the waking of the next. */
    private static final int RUNS = 2;

    private static final long OPEN = 1L << 32;
    private static final long INSIDE = OPEN - 1;

    private final int threads;
    private final boolean spin;
    private final Worker[] workers;
    private final AtomicBoolean busy = new AtomicBoolean();
    private final Semaphore turns;
    private final AtomicInteger running = new AtomicInteger();

    /** Low half: workers inside the loop. High half: a count of openings and closings, odd while a loop is open. */
    private final AtomicLong state = new AtomicLong();

    private final AtomicLong next = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private @Nullable CpuFrame frame;
    private @Nullable RangeTask task;
    private long count;
    private long piece;
    private volatile @Nullable Thread waiter;
    private volatile boolean closed;

    /**
     * With threads of the JVM.
     *
     * @throws OutOfMemoryException when there are not as many; those that were started end then
     */
    public WorkerPool(int threads) {
        this(threads, HostSupply.JVM);
    }

    /** @throws OutOfMemoryException when the JVM starts no more threads; those that were started end then */
    public WorkerPool(int threads, HostSupply supply) {
        this.threads = threads;
        this.spin = threads <= Runtime.getRuntime().availableProcessors();
        this.turns = new Semaphore(RUNS * threads, true);
        this.workers = new Worker[threads - 1];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(i + 1);
        }
        int started = 1;
        try {
            for (Worker worker : workers) {
                supply.start(worker);
                started++;
            }
        } catch (OutOfMemoryError e) {
            close();
            throw new OutOfMemoryException(
                    "cpu: the JVM started " + started + " of " + threads + " worker threads, the caller among them ("
                            + e.getMessage()
                            + "); open the device with fewer threads, or raise the limit of the system",
                    e);
        }
    }

    public int threads() {
        return threads;
    }

    /** Waits until fewer runs than the limit are under way. A run within a run does not ask again. */
    public void enter() {
        turns.acquireUninterruptibly();
        running.incrementAndGet();
    }

    /** The run that {@link #enter entered} has ended. */
    public void leave() {
        running.decrementAndGet();
        turns.release();
    }

    private boolean crowded() {
        return running.get() >= threads;
    }

    private final class Worker extends Thread {
        private final int index;
        private volatile boolean parked;

        Worker(int index) {
            super("tenon-cpu-" + index);
            this.index = index;
            setDaemon(true);
        }

        private WorkerPool pool() {
            return WorkerPool.this;
        }

        @Override
        public void run() {
            long seen = 0;
            while (!closed) {
                long now = state.get();
                long round = now >>> 32;
                if ((round & 1) == 0 || round == seen) {
                    await(seen);
                } else if (state.compareAndSet(now, now + 1)) {
                    seen = round;
                    observedWork(index);
                    leaveLoop();
                }
            }
        }

        private boolean nothingNew(long seen) {
            long round = state.get() >>> 32;
            return !closed && ((round & 1) == 0 || round == seen);
        }

        private void await(long seen) {
            long start = spin ? System.nanoTime() : 0;
            while (spin && !crowded() && System.nanoTime() - start < SPIN_NANOS) {
                for (int i = 0; i < 32; i++) {
                    if (!nothingNew(seen)) {
                        return;
                    }
                    Thread.onSpinWait();
                }
            }
            parked = true;
            while (nothingNew(seen)) {
                LockSupport.park(WorkerPool.this);
            }
            parked = false;
        }
    }

    /**
     * Runs the iterations [0, count) in pieces of at least {@code grain}. Throws what a piece threw, when no worker is
     * inside any more; pieces that had not begun are left out then.
     */
    void run(CpuFrame given, RangeTask body, long iterations, long grain) {
        if (iterations <= 0) {
            return;
        }
        long smallest = Math.max(1, grain);
        if (threads == 1 || iterations <= smallest || crowded() || closed || !busy.compareAndSet(false, true)) {
            body.run(given, 0, iterations, callerIndex());
            return;
        }
        try {
            share(given, body, iterations, smallest);
        } finally {
            frame = null;
            task = null;
            waiter = null;
            busy.set(false);
        }
    }

    /** A loop inside a loop keeps to the workspace of the worker that runs it. */
    private int callerIndex() {
        return Thread.currentThread() instanceof Worker worker && worker.pool() == this ? worker.index : 0;
    }

    private void share(CpuFrame given, RangeTask body, long iterations, long smallest) {
        frame = given;
        task = body;
        count = iterations;
        piece = Math.max(smallest, Math.ceilDiv(iterations, (long) threads * PIECES));
        next.set(0);
        failure.set(null);
        waiter = Thread.currentThread();
        state.addAndGet(OPEN);
        long wanted = Math.ceilDiv(iterations, piece) - 1;
        for (Worker worker : workers) {
            if (wanted-- > 0 && worker.parked) {
                LockSupport.unpark(worker);
            }
        }
        work(0);
        state.addAndGet(OPEN);
        awaitAll();
        Throwable thrown = failure.get();
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException exception) {
            throw exception;
        }
    }

    private void observedWork(int worker) {
        CpuFrame given = frame;
        RunObserver observer = given == null ? null : given.observer();
        long start = observer == null ? 0 : System.nanoTime();
        work(worker);
        if (observer != null) {
            observer.span("worker " + worker, "", start, System.nanoTime());
        }
    }

    private void work(int worker) {
        RangeTask body = java.util.Objects.requireNonNull(task);
        CpuFrame given = java.util.Objects.requireNonNull(frame);
        try {
            long from = next.getAndAdd(piece);
            while (from < count) {
                body.run(given, from, Math.min(count, from + piece), worker);
                from = next.getAndAdd(piece);
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
            next.set(count);
        }
    }

    private void leaveLoop() {
        Thread caller = waiter;
        long now = state.decrementAndGet();
        if ((now & INSIDE) == 0 && (now >>> 32 & 1) == 0 && caller != null) {
            LockSupport.unpark(caller);
        }
    }

    private void awaitAll() {
        for (int i = 0; spin && i < 20_000; i++) {
            if ((state.get() & INSIDE) == 0) {
                return;
            }
            Thread.onSpinWait();
        }
        boolean interrupted = false;
        while ((state.get() & INSIDE) != 0) {
            LockSupport.park(this);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the threads; a loop that they are in is finished first, later ones run on their callers alone. */
    @Override
    public void close() {
        closed = true;
        for (Worker worker : workers) {
            LockSupport.unpark(worker);
        }
    }
}
