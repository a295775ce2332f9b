package dev.tenon.cuda.tuning;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.timing.DeviceTiming;
import dev.tenon.nativelib.Switches;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Times the algorithms that libraries offer for an operation of one open device, on numbers of no meaning, while the
 * device has nothing else to do, and lets the operation take the fastest. Then, too, it compiles what no run was to
 * wait for. A thread of its own does it; it ends when there is nothing left to do. Thread-safe. Close it before the
 * libraries and the context.
 */
public final class Tuner implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Tuner.class.getName());
    private static final boolean ON = Switches.on("TENON_AUTOTUNE", true);

    /** Of host time for an operation; algorithms that are not reached by then are not tried. */
    private static final long MOST_NANOS = 50_000_000;

    private static final long PAUSE_NANOS = 1_000_000;
    private static final double SHORT_MICROS = 50;
    private static final int REPETITIONS = 10;
    private static final int REPLAYS = 3;
    /** Of operands: about 0.01 in f32 and bf16, 1 in f16, no NaN in any type. */
    private static final byte FILLING = 0x3c;

    private sealed interface Waiting {}

    /** An operation, and where what is found for it is kept. */
    private record Timing(Tunable operation, TuningRecords records) implements Waiting {}

    /** What may make something run better. */
    private record Improvement(BooleanSupplier work) implements Waiting {}

    private final @Nullable GpuContext context;
    private final TrialMemory memory;
    private final BooleanSupplier idle;
    /** Recording work holds the read side; what must not happen meanwhile holds the write side. */
    private final ReentrantReadWriteLock recording = new ReentrantReadWriteLock();

    private final AtomicInteger generation = new AtomicInteger();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private @Nullable Waiting current;
    /** Whether the operation that is being timed is not wanted any more. */
    private boolean dropped;

    private @Nullable Thread thread;
    private boolean ended;

    private Tuner(@Nullable GpuContext context, TrialMemory memory, BooleanSupplier idle) {
        this.context = context;
        this.memory = memory;
        this.idle = idle;
    }

    /** Times nothing: the libraries' favourites serve. */
    public static Tuner off() {
        return new Tuner(null, _ -> null, () -> false);
    }

    /**
     * For an open device; off where {@code TENON_AUTOTUNE=0}.
     *
     * @param memory where algorithms are tried
     * @param idle whether the device has nothing to do, so that algorithms may be timed
     */
    public static Tuner of(GpuContext context, TrialMemory memory, BooleanSupplier idle) {
        return new Tuner(ON ? context : null, memory, idle);
    }

    /** Whether anything is done while the device is idle. */
    public boolean isOn() {
        return context != null;
    }

    /** What was found for a library's problems on this device; null where nothing is timed. */
    public @Nullable TuningRecords records(String library) {
        GpuContext device = context;
        return device == null
                ? null
                : new TuningRecords(Store.standard(), library, device.device().name());
    }

    /** Puts an operation on the list of those to time. */
    public void add(Tunable operation, TuningRecords records) {
        add(new Timing(operation, records));
    }

    /**
     * Puts work on the list that may make something run better.
     *
     * @param work says whether it did: then what was recorded before is recorded anew
     */
    public void add(BooleanSupplier work) {
        add(new Improvement(work));
    }

    private synchronized void add(Waiting added) {
        GpuContext device = context;
        if (ended || device == null) {
            return;
        }
        waiting.add(added);
        if (thread == null) {
            Thread fresh = Thread.ofPlatform().daemon().name("tenon-tune").unstarted(() -> work(device));
            try {
                device.start(fresh);
                thread = fresh;
            } catch (OutOfMemoryError e) {
                waiting.clear(); // no thread is to be had: what serves goes on
            }
        }
    }

    /** Whether nothing waits or is being worked on. */
    public boolean settled() {
        return left() == 0;
    }

    /** How many wait, or are being worked on. */
    public synchronized int left() {
        return waiting.size() + (current == null ? 0 : 1);
    }

    /** Changes whenever an operation runs in another way: what was recorded before runs in the old one. */
    public int generation() {
        return generation.get();
    }

    /** Its read side is held while work is recorded on this device. */
    public ReentrantReadWriteLock recording() {
        return recording;
    }

    /** Takes an operation off the list, and waits where it is being timed, but not for a rest of the device. */
    @SuppressWarnings("ReferenceEquality") // that very one
    public void remove(Tunable operation) {
        synchronized (this) {
            waiting.removeIf(one -> one instanceof Timing timing && timing.operation == operation);
            dropped = dropped || isCurrent(operation); // which may wait for a rest that does not come
        }
        while (isCurrent(operation)) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    @SuppressWarnings("ReferenceEquality") // that very one
    private synchronized boolean isCurrent(Tunable operation) {
        return current instanceof Timing timing && timing.operation == operation;
    }

    /** Times nothing any more; returns when nothing is timed. Idempotent. */
    @Override
    public void close() {
        Thread last;
        synchronized (this) {
            ended = true;
            waiting.clear();
            last = thread;
        }
        if (last != null) {
            Uninterrupted.run(last::join); // the context must not be closed before
        }
    }

    private void work(GpuContext device) {
        TuningRecords unsaved = null;
        for (Waiting next = next(device); next != null; next = next(device)) {
            try {
                switch (next) {
                    case Improvement improvement -> {
                        if (improvement.work.getAsBoolean()) {
                            generation.incrementAndGet();
                        }
                    }
                    case Timing timing -> {
                        if (unsaved != null && unsaved != timing.records) {
                            unsaved.save();
                            unsaved = null;
                        }
                        unsaved = tune(device, timing) ? timing.records : unsaved;
                    }
                }
                if (unsaved != null && left() == 1) { // before it has settled: others may look then
                    unsaved.save();
                    unsaved = null;
                }
            } catch (RuntimeException | Error e) { // a thread that dies here would leave the rest waiting for ever
                LOG.log(Level.DEBUG, "while the device is idle", e);
            } finally {
                synchronized (this) {
                    current = null;
                }
            }
        }
        if (unsaved != null) {
            unsaved.save();
        }
    }

    /** The next, once the device is idle; null where none is left, and then the thread ends. */
    private @Nullable Waiting next(GpuContext device) {
        while (true) {
            synchronized (this) {
                if (ended || waiting.isEmpty() || !device.healthy()) {
                    waiting.clear();
                    thread = null;
                    return null;
                }
                if (idle.getAsBoolean()) {
                    Waiting next = waiting.remove();
                    current = next;
                    dropped = false;
                    return next;
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** @return whether an algorithm was found */
    private boolean tune(GpuContext device, Timing next) {
        Tunable operation = next.operation;
        String problemClass = operation.problemClass();
        Choice known = next.records.get(problemClass); // of a sibling that was timed meanwhile
        if (known != null && load(device, operation, known) && take(device, operation, known)) {
            return false;
        }
        Choice choice = time(device, operation);
        if (choice == null) {
            return false;
        }
        next.records.put(problemClass, choice);
        take(device, operation, choice);
        return true;
    }

    /**
     * Runs an algorithm once, so that no caller waits for its kernels.
     *
     * @return false where it does not run: so would the next call
     */
    private boolean load(GpuContext device, Tunable operation, Choice known) {
        Tunable.Trial trial = operation.trial(known);
        if (trial == null) {
            return true;
        }
        try (TrialMemory.Loan loan = memory.borrow(operation.trialBytes())) {
            if (loan == null) {
                return true;
            }
            return !awaitIdle()
                    || Double.isFinite(tried(device, operation, trial, stream -> once(device, stream, trial, loan)));
        }
    }

    private static double once(GpuContext device, GpuStream stream, Tunable.Trial trial, TrialMemory.Loan loan) {
        try {
            trial.enqueue(stream, loan.buffer());
            stream.synchronize();
            return 0;
        } catch (NativeException e) {
            if (!device.healthy()) {
                throw e;
            }
            return Double.POSITIVE_INFINITY;
        }
    }

    private boolean take(GpuContext device, Tunable operation, Choice choice) {
        boolean taken = ask(device, operation, () -> operation.take(choice));
        if (taken) {
            generation.incrementAndGet();
        }
        return taken;
    }

    private static <T> T ask(GpuContext device, Tunable operation, Supplier<T> question) {
        List<T> answer = new ArrayList<>();
        operation.guard().lock(); // before the section, in which nothing may block
        try {
            device.call(() -> answer.add(question.get()));
        } finally {
            operation.guard().unlock();
        }
        return answer.getFirst();
    }

    private @Nullable Choice time(GpuContext device, Tunable operation) {
        List<? extends Tunable.Trial> trials = ask(device, operation, operation::trials);
        if (trials.size() < 2) {
            return null;
        }
        try (TrialMemory.Loan loan = memory.borrow(operation.trialBytes())) {
            return loan == null ? null : fastest(device, operation, trials, loan);
        }
    }

    private @Nullable Choice fastest(
            GpuContext device, Tunable operation, List<? extends Tunable.Trial> trials, TrialMemory.Loan loan) {
        long busy = 0;
        String best = null;
        double shortest = Double.POSITIVE_INFINITY;
        int timed = 0;
        for (int i = 0; i < trials.size() && (i == 0 || busy < MOST_NANOS); i++) {
            if (!awaitIdle()) {
                return null;
            }
            long start = System.nanoTime();
            double micros = micros(device, operation, trials.get(i), loan, i == 0);
            busy += System.nanoTime() - start;
            timed += Double.isFinite(micros) ? 1 : 0;
            if (micros < shortest) {
                shortest = micros;
                best = trials.get(i).algorithm();
            }
        }
        return best == null ? null : new Choice(best, timed);
    }

    /** Of one trial, infinite where it does not run; with the lock held for one and not for all. */
    private double micros(
            GpuContext device, Tunable operation, Tunable.Trial trial, TrialMemory.Loan loan, boolean first) {
        return tried(device, operation, trial, stream -> {
            if (first) {
                stream.fill(loan.buffer(), 0, loan.buffer().bytes(), FILLING);
                stream.synchronize();
            }
            return micros(device, stream, () -> trial.enqueue(stream, loan.buffer()));
        });
    }

    /** What work with a prepared trial gives, on a stream of its own; infinite where it cannot be prepared. */
    private double tried(GpuContext device, Tunable operation, Tunable.Trial trial, ToDoubleFunction<GpuStream> work) {
        try {
            if (!ask(device, operation, trial::prepare)) {
                return Double.POSITIVE_INFINITY;
            }
            recording.readLock().lock();
            try (GpuStream stream = device.newStream()) {
                return work.applyAsDouble(stream);
            } finally {
                recording.readLock().unlock();
            }
        } finally {
            ask(device, operation, () -> {
                trial.close();
                return true;
            });
        }
    }

    /** Infinite where the library does not run what it offered, or not in a recording. */
    private static double micros(GpuContext device, GpuStream stream, Runnable work) {
        try {
            work.run(); // loads the algorithm's kernels
            stream.synchronize();
            double once = DeviceTiming.replay(device, stream, work, 1, 1);
            return once > SHORT_MICROS ? once : DeviceTiming.replay(device, stream, work, REPETITIONS, REPLAYS);
        } catch (NativeException | CaptureException e) {
            if (!device.healthy()) {
                throw e;
            }
            return Double.POSITIVE_INFINITY;
        }
    }

    /** Until the device has nothing else to do. @return false where it has, and what waits is not wanted any more */
    private boolean awaitIdle() {
        while (!idle.getAsBoolean()) {
            synchronized (this) {
                if (ended || dropped) {
                    return false;
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }
}
