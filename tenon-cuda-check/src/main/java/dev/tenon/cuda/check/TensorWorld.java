package dev.tenon.cuda.check;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.collective.GpuCollectiveOptions;
import dev.tenon.cuda.collective.GpuCommunicator;
import dev.tenon.cuda.collective.GpuGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A group over the first devices of a backend, each with a runtime and a session that halves what it is given. */
final class TensorWorld implements AutoCloseable {
    private static final int LONGEST_SECONDS = 25;
    private static final Graph HALF = GraphBuilder.build("half", g -> {
        var x = g.input("x", DType.F32, Dim.named("n"));
        g.output("y", g.mul(x, g.scalar(DType.F32, 0.5)));
    });

    /** One of the ranks, on a thread of its own. */
    record Rank(int number, Engine runtime, Session session, GpuCommunicator communicator) {
        Tensor upload(float... values) {
            return runtime.upload(Tensor.of(values, values.length));
        }

        Tensor half(Tensor x) {
            return Objects.requireNonNull(session.run(Map.of("x", x)).get("y"));
        }

        Tensor halfOnDevice(Tensor x) {
            return Objects.requireNonNull(session.runOnDevice(Map.of("x", x)).get("y"));
        }
    }

    /** What a rank does. */
    interface Task {
        void run(Rank rank);
    }

    final GpuGroup group;
    final List<Rank> ranks = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    TensorWorld(String backend, int world, Duration timeout) {
        List<Engine> runtimes = new ArrayList<>();
        for (int ordinal = 0; ordinal < world; ordinal++) {
            runtimes.add(Engine.open(Target.parse(backend + ":" + ordinal)));
        }
        group = GpuGroup.open(runtimes, GpuCollectiveOptions.defaults().withTimeout(timeout));
        for (int rank = 0; rank < world; rank++) {
            CompiledModel model = runtimes.get(rank).compile(HALF);
            ranks.add(new Rank(rank, runtimes.get(rank), model.newSession(), group.communicator(rank)));
        }
        opened.add(group);
        opened.addAll(runtimes);
    }

    TensorWorld(String backend, int world) {
        this(backend, world, Duration.ofSeconds(10));
    }

    /** One more group over the same devices. */
    GpuGroup another() {
        return GpuGroup.open(ranks.stream().map(Rank::runtime).toList(), GpuCollectiveOptions.defaults());
    }

    int world() {
        return ranks.size();
    }

    /** Runs a task for each rank at the same time; throws what the first failing rank threw. */
    void each(Task task) {
        ExecutorService threads = Executors.newFixedThreadPool(
                world(), Thread.ofPlatform().daemon().name("rank-", 0).factory());
        try {
            List<Future<?>> running = new ArrayList<>();
            for (Rank rank : ranks) {
                running.add(threads.submit(() -> task.run(rank)));
            }
            for (Future<?> one : running) {
                one.get(LONGEST_SECONDS, TimeUnit.SECONDS);
            }
        } catch (ExecutionException e) {
            throw new AssertionError("a rank failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("a rank has not ended after " + LONGEST_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        } finally {
            threads.shutdownNow();
        }
    }

    @Override
    public void close() {
        ranks.forEach(rank -> rank.session.close());
        for (AutoCloseable one : opened) {
            try {
                one.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
