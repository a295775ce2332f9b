package dev.tenon.cli.soak;

import dev.tenon.cli.console.Samples;
import dev.tenon.core.ir.DType;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Threads that run a model again and again, each in sessions of its own that it closes and opens anew, over several
 * shapes in a random order. Every result is held against the first of its inputs; outputs are dropped unclosed, as
 * callers do.
 */
final class Soak implements AutoCloseable {
    private static final int RUNS_A_SESSION = 40;
    /** Of times, the most recent; enough for a 99th percentile. */
    private static final int KEPT = 1 << 14;

    /** Loops change from plain to vector code under way, and products from one algorithm to another. */
    private static final double TOLERANCE = 2e-3;

    private final CompiledModel model;
    private final List<Map<String, Tensor>> inputs;
    private final AtomicReferenceArray<@Nullable Map<String, Tensor>> expected;
    private final AtomicLong runs = new AtomicLong();
    private final AtomicLong sessions = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final double[] micros = new double[KEPT];
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /** @param inputs a run's inputs for each shape */
    Soak(CompiledModel model, List<Map<String, Tensor>> inputs, int callers) {
        this.model = model;
        this.inputs = inputs;
        this.expected = new AtomicReferenceArray<>(inputs.size());
        for (int i = 0; i < callers; i++) {
            int number = i;
            threads.add(Thread.ofPlatform().daemon().name("soak-" + i).start(() -> work(number)));
        }
    }

    private void work(int number) {
        SplittableRandom random = new SplittableRandom(number);
        try {
            while (!stopped) {
                try (Session session = model.newSession()) {
                    sessions.incrementAndGet();
                    for (int run = 0; run < RUNS_A_SESSION && !stopped; run++) {
                        run(session, random.nextInt(inputs.size()));
                    }
                }
            }
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
            stopped = true;
        }
    }

    private void run(Session session, int shape) {
        long before = System.nanoTime();
        Map<String, Tensor> outputs = session.run(inputs.get(shape));
        double took = (System.nanoTime() - before) / 1e3;
        long number = runs.getAndIncrement();
        synchronized (micros) {
            micros[(int) (number % KEPT)] = took;
        }
        Map<String, Tensor> first = expected.get(shape);
        if (first == null) {
            expected.compareAndSet(shape, null, outputs);
        } else {
            first.forEach((name, tensor) -> compare(name, tensor, outputs.get(name)));
        }
    }

    private static void compare(String name, Tensor first, @Nullable Tensor now) {
        if (now == null || !now.type().equals(first.type())) {
            throw new IllegalStateException("output \"" + name + "\" was " + first.type() + " and is " + now);
        }
        boolean floats = first.dtype().isFloat();
        double scale = 1;
        for (long i = 0; i < first.elements(); i++) {
            double was = first.getDouble(i);
            double is = now.getDouble(i);
            scale = Math.max(scale, Math.abs(was));
            boolean same = floats
                    ? Double.compare(was, is) == 0 || Math.abs(was - is) <= TOLERANCE * scale
                    : first.dtype() == DType.BOOL ? was == is : first.getLong(i) == now.getLong(i);
            if (!same) {
                throw new IllegalStateException(
                        "output \"" + name + "\" was " + was + " at element " + i + " and is " + is);
            }
        }
    }

    long runs() {
        return runs.get();
    }

    long sessions() {
        return sessions.get();
    }

    /** What ended a thread before its time; null while all go on. */
    @Nullable
    Throwable failure() {
        return failure.get();
    }

    /** The times of the most recent runs; null before the first. */
    @Nullable
    Samples times() {
        int count = (int) Math.min(KEPT, runs.get());
        if (count == 0) {
            return null;
        }
        synchronized (micros) {
            return Samples.of(Arrays.copyOf(micros, count));
        }
    }

    /** Lets every thread finish the run it is in, and waits for it. */
    @Override
    public void close() {
        stopped = true;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return; // daemons: they end with the process
            }
        }
    }
}
