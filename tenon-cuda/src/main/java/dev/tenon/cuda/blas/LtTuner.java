package dev.tenon.cuda.blas;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.timing.DeviceTiming;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Times the algorithms that cuBLASLt offers for a product, on numbers of no meaning, while the device has nothing else
 * to do, and lets the product take the fastest. A thread of its own does it; it ends when there is nothing left to
 * time. Thread-safe.
 */
final class LtTuner {
    private static final System.Logger LOG = System.getLogger(LtTuner.class.getName());

    /** Of host time for a product; algorithms that are not reached by then are not tried. */
    private static final long MOST_NANOS = 25_000_000;

    private static final long PAUSE_NANOS = 1_000_000;
    private static final double SHORT_MICROS = 50;
    private static final int REPETITIONS = 10;
    private static final int REPLAYS = 3;
    private static final long BOUNDARY = 256;
    /** Of operands: about 0.01 in f32 and bf16, 1 in f16, no NaN in any type. */
    private static final byte FILLING = 0x3c;

    private final GpuContext context;
    private final TrialMemory memory;
    private final BooleanSupplier idle;
    private final TuningRecords records;
    private final Runnable changed;
    private final Lock recording;
    private final ArrayDeque<LtProduct> waiting = new ArrayDeque<>();
    private @Nullable LtProduct current;
    private @Nullable Thread thread;
    private boolean ended;

    /**
     * @param memory where algorithms are tried
     * @param idle whether the device has nothing to do
     * @param changed told when a product takes another algorithm
     * @param recording held while work is recorded
     */
    LtTuner(
            GpuContext context,
            TrialMemory memory,
            BooleanSupplier idle,
            TuningRecords records,
            Runnable changed,
            Lock recording) {
        this.context = context;
        this.memory = memory;
        this.idle = idle;
        this.records = records;
        this.changed = changed;
        this.recording = recording;
    }

    /** Puts a product on the list of those to time. */
    synchronized void add(LtProduct product) {
        if (ended || product.candidates() < 2) {
            return;
        }
        waiting.add(product);
        if (thread == null) {
            Thread fresh = Thread.ofPlatform().daemon().name("tenon-tune").unstarted(this::work);
            try {
                context.start(fresh);
                thread = fresh;
            } catch (OutOfMemoryError e) {
                waiting.clear(); // no thread is to be had: the library's favourites serve
            }
        }
    }

    /** Whether nothing waits. */
    synchronized boolean settled() {
        return waiting.isEmpty() && current == null;
    }

    /** Takes a product off the list, and waits where it is being timed. */
    void remove(LtProduct product) {
        synchronized (this) {
            waiting.remove(product);
        }
        awaitNot(product);
    }

    /** Times nothing any more; returns when nothing is timed. */
    void close() {
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

    private void awaitNot(LtProduct product) {
        while (true) {
            synchronized (this) {
                if (current != product) {
                    return;
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void work() {
        boolean found = false;
        for (LtProduct product = next(); product != null; product = next()) {
            try {
                found |= tune(product);
            } catch (TenonException | OutOfMemoryError e) {
                LOG.log(Level.DEBUG, "timing algorithms: " + e);
            } finally {
                synchronized (this) {
                    current = null;
                }
            }
        }
        if (found) {
            records.save();
        }
    }

    /** The next product once the device is idle; null when there is none, which ends the thread. */
    private @Nullable LtProduct next() {
        while (true) {
            synchronized (this) {
                if (ended || waiting.isEmpty() || !context.healthy()) {
                    waiting.clear();
                    thread = null;
                    return null;
                }
                if (idle.getAsBoolean()) {
                    current = waiting.poll();
                    return current;
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** @return whether an algorithm was found */
    private boolean tune(LtProduct product) {
        String problemClass = TuningRecords.problemClass(product.problem, product.workspaceBytes);
        TuningRecords.Choice known = records.get(problemClass); // of a sibling that was timed meanwhile
        if (known != null && take(product, known)) {
            return false;
        }
        TuningRecords.Choice choice = time(product);
        if (choice == null) {
            return false;
        }
        records.put(problemClass, choice);
        take(product, choice);
        return true;
    }

    private boolean take(LtProduct product, TuningRecords.Choice choice) {
        boolean[] taken = new boolean[1];
        context.call(() -> taken[0] = product.take(choice));
        if (taken[0]) {
            changed.run();
        }
        return taken[0];
    }

    private TuningRecords.@Nullable Choice time(LtProduct product) {
        Operands operands = Operands.of(product);
        try (TrialMemory.Loan loan = memory.borrow(operands.bytes())) {
            return loan == null ? null : fastest(product, operands, loan.buffer());
        }
    }

    private TuningRecords.@Nullable Choice fastest(LtProduct product, Operands operands, DeviceBuffer buffer) {
        Operands at = operands.from(buffer.address());
        long busy = 0;
        MemorySegment best = null;
        double shortest = Double.POSITIVE_INFINITY;
        int timed = 0;
        for (int i = 0; i < product.candidates() && (i == 0 || busy < MOST_NANOS); i++) {
            awaitIdle();
            long start = System.nanoTime();
            MemorySegment algorithm = product.candidate(i);
            // held for one algorithm and not for all: what excludes it must not wait until the device rests
            double micros;
            recording.lock();
            try (GpuStream stream = context.newStream()) {
                if (i == 0) {
                    stream.fill(buffer, 0, operands.workspace(), FILLING);
                    stream.synchronize();
                }
                micros = micros(
                        stream,
                        () -> product.enqueue(
                                stream, algorithm, at.a(), at.b(), at.d(), at.d(), at.bias(), at.workspace()));
            } finally {
                recording.unlock();
            }
            busy += System.nanoTime() - start;
            timed += Double.isFinite(micros) ? 1 : 0;
            if (micros < shortest) {
                shortest = micros;
                best = algorithm;
            }
        }
        return best == null ? null : TuningRecords.Choice.of(best.toArray(ValueLayout.JAVA_BYTE), timed);
    }

    /** Until the device has nothing else to do, or this is closed. */
    private void awaitIdle() {
        while (!idle.getAsBoolean()) {
            synchronized (this) {
                if (ended) {
                    return;
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Of one product; infinite where the library does not run what it offered, or not in a recording. */
    private double micros(GpuStream stream, Runnable work) {
        try {
            work.run(); // loads the algorithm's kernels
            stream.synchronize();
            double once = DeviceTiming.replay(context, stream, work, 1, 1);
            return once > SHORT_MICROS ? once : DeviceTiming.replay(context, stream, work, REPETITIONS, REPLAYS);
        } catch (NativeException | CaptureException e) {
            if (!context.healthy()) {
                throw e;
            }
            return Double.POSITIVE_INFINITY;
        }
    }

    /** Offsets, or addresses, of what a product reads and writes, and the bytes of all. */
    private record Operands(long a, long b, long d, long bias, long workspace, long bytes) {
        static Operands of(LtProduct product) {
            GemmProblem p = product.problem;
            int operand = p.operands().bytes();
            long b = whole(((p.batches() - 1) * p.strideA() + p.m() * p.k()) * operand);
            long d = b + whole(((p.batches() - 1) * p.strideB() + p.k() * p.n()) * operand);
            long bias = d + whole(p.result().bytesFor(SizeMath.product("matmul", p.batches(), p.m(), p.n())));
            long workspace = bias + whole(p.n() * operand);
            return new Operands(0, b, d, bias, workspace, workspace + product.workspaceBytes);
        }

        Operands from(long base) {
            return new Operands(base + a, base + b, base + d, base + bias, base + workspace, bytes);
        }

        private static long whole(long bytes) {
            return Math.ceilDiv(bytes, BOUNDARY) * BOUNDARY;
        }
    }
}
