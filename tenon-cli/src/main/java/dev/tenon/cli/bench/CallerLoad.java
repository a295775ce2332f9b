package dev.tenon.cli.bench;

import com.sun.management.ThreadMXBean;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Callers of one model: threads with a session each, that run it again as soon as they have its results. When one
 * fails, so does the whole, as soon as the runs of the others have ended.
 */
final class CallerLoad {
    private final CompiledModel model;
    private final Map<String, Tensor> inputs;
    private final long nanos;
    /** Callers that have not failed. */
    private final Phaser start;

    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private CallerLoad(CompiledModel model, Map<String, Tensor> inputs, int callers, double seconds) {
        this.model = model;
        this.inputs = inputs;
        this.nanos = (long) (seconds * 1e9);
        this.start = new Phaser(callers);
    }

    /**
     * What was measured.
     *
     * @param micros of all runs, of which there is at least one a caller
     * @param seconds from the beginning of the first to the end of the last, which may be long after they were to end
     * @param bytesPerRun that the callers' threads took of the heap; less than 0 where the JVM does not count them
     */
    record Times(List<Double> micros, double seconds, double bytesPerRun) {}

    private static final class Caller {
        final List<Double> micros = new ArrayList<>();
        long began;
        long ended;
        /** Less than 0 where the JVM does not count them. */
        long bytes = -1;
    }

    /** Of the heap, that the calling thread took; -1 where the JVM does not count them. */
    private static long allocated() {
        boolean counted = ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
                && bean.isThreadAllocatedMemorySupported()
                && bean.isThreadAllocatedMemoryEnabled();
        return counted ? ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes() : -1;
    }

    /** Each caller runs once before the time begins. */
    static Times run(CompiledModel model, Map<String, Tensor> inputs, int callers, double seconds)
            throws InterruptedException {
        CallerLoad load = new CallerLoad(model, inputs, callers, seconds);
        List<Caller> all = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            Caller caller = new Caller();
            if (!load.start(caller, i, callers, threads)) {
                break;
            }
            all.add(caller);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        switch (load.failure.get()) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException("a caller failed: " + e, e);
        }
        long began = all.getFirst().began;
        long first = 0; // both from there
        long last = 0;
        for (Caller caller : all) {
            first = Math.min(first, caller.began - began);
            last = Math.max(last, caller.ended - began);
        }
        List<Double> micros =
                all.stream().flatMap(caller -> caller.micros.stream()).toList();
        boolean counted = all.stream().allMatch(caller -> caller.bytes >= 0);
        double bytes = all.stream().mapToDouble(caller -> caller.bytes).sum();
        return new Times(micros, (last - first) / 1e9, counted ? bytes / micros.size() : -1);
    }

    /** Returns false where the JVM starts no more threads; those that were started do not wait for the others then. */
    private boolean start(Caller caller, int number, int callers, List<Thread> threads) {
        try {
            threads.add(Thread.ofPlatform().name("caller-" + number).start(() -> call(caller)));
            return true;
        } catch (OutOfMemoryError e) {
            String message = "the JVM started " + number + " of " + callers + " callers (" + e.getMessage()
                    + "); measure with fewer";
            failure.compareAndSet(null, new OutOfMemoryException(message, e));
            for (int missing = number; missing < callers; missing++) {
                start.arriveAndDeregister();
            }
            return false;
        }
    }

    private void call(Caller caller) {
        try (Session session = model.newSession()) {
            session.run(inputs);
            start.arriveAndAwaitAdvance();
            long allocated = allocated();
            caller.began = System.nanoTime();
            long before = caller.began;
            do {
                if (failure.get() != null) {
                    return; // another caller says why
                }
                session.run(inputs);
                caller.ended = System.nanoTime();
                caller.micros.add((caller.ended - before) / 1e3);
                before = caller.ended;
            } while (before - caller.began < nanos);
            caller.bytes = allocated < 0 ? -1 : allocated() - allocated;
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
            start.arriveAndDeregister();
        }
    }
}
