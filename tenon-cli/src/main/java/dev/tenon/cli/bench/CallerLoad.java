package dev.tenon.cli.bench;

import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Callers of one model: threads with a session each, that run it again as soon as they have its results. */
final class CallerLoad {
    private final CompiledModel model;
    private final Map<String, Tensor> inputs;
    private final double seconds;
    private final CyclicBarrier start;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private CallerLoad(CompiledModel model, Map<String, Tensor> inputs, int callers, double seconds) {
        this.model = model;
        this.inputs = inputs;
        this.seconds = seconds;
        this.start = new CyclicBarrier(callers);
    }

    /** Times of all runs, in microseconds. Each caller runs once before the time begins. */
    static List<Double> run(CompiledModel model, Map<String, Tensor> inputs, int callers, double seconds)
            throws InterruptedException {
        CallerLoad load = new CallerLoad(model, inputs, callers, seconds);
        List<List<Double>> micros = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int caller = 0; caller < callers; caller++) {
            List<Double> own = new ArrayList<>();
            micros.add(own);
            threads.add(Thread.ofPlatform().name("caller-" + caller).start(() -> load.call(own)));
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
        return micros.stream().flatMap(List::stream).toList();
    }

    private void call(List<Double> micros) {
        try (Session session = model.newSession()) {
            session.run(inputs);
            start.await();
            long end = System.nanoTime() + (long) (seconds * 1e9);
            for (long before = System.nanoTime(); before < end; before = System.nanoTime()) {
                session.run(inputs);
                micros.add((System.nanoTime() - before) / 1e3);
            }
        } catch (BrokenBarrierException _) { // another caller says why
        } catch (InterruptedException | RuntimeException | Error e) {
            failure.compareAndSet(null, e);
            start.reset();
        }
    }
}
