package dev.tenon.cuda.collective;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Several GPUs as one group, and numbers in their memory. Tests without enough GPUs are skipped, counted and printed;
 * where {@code TENON_REQUIRE_GPUS} says how many there must be, they fail instead.
 */
final class Gpus implements AutoCloseable {
    private static final int LONGEST_SECONDS = 25;

    final GpuPlatform platform = GpuPlatforms.named("cuda");
    final List<GpuContext> contexts = new ArrayList<>();
    final List<GpuStream> streams = new ArrayList<>();

    /** What a rank does, on a thread of its own. */
    interface Task {
        void run(int rank) throws Exception;
    }

    private Gpus(int count) {
        for (int ordinal = 0; ordinal < count; ordinal++) {
            contexts.add(platform.driver().open(ordinal));
            streams.add(contexts.get(ordinal).newStream());
        }
    }

    /** Skips the test where there are fewer GPUs, or no NCCL. */
    static void require(int count) {
        RequiredGpus.group(count);
    }

    static Gpus open(int count) {
        require(count);
        return new Gpus(count);
    }

    int world() {
        return contexts.size();
    }

    GpuGroup group(GpuCollectiveOptions options) {
        return GpuGroup.open(platform, contexts, options);
    }

    /** A timeout that is over before the test's. */
    static GpuCollectiveOptions options() {
        return GpuCollectiveOptions.defaults().withTimeout(Duration.ofSeconds(8));
    }

    /** A group that gives up soon, so that a test which hangs fails. */
    GpuGroup group() {
        return group(options());
    }

    /** Runs a task for each rank at the same time, each on its thread; throws what the first failing rank threw. */
    void parallel(Task task) {
        ExecutorService threads = Executors.newFixedThreadPool(
                world(), Thread.ofPlatform().daemon().name("rank-", 0).factory());
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int rank = 0; rank < world(); rank++) {
                int own = rank;
                running.add(threads.submit(() -> {
                    task.run(own);
                    return null;
                }));
            }
            Throwable failure = null;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
            for (Future<?> one : running) {
                try {
                    one.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (ExecutionException e) {
                    failure = failure == null ? e.getCause() : failure;
                } catch (Exception e) {
                    failure = failure == null ? e : failure;
                }
            }
            switch (failure) {
                case null -> {}
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new AssertionError(failure);
            }
        } finally {
            threads.shutdownNow(); // not close(), which waits without an end for a thread in a native call
        }
    }

    DeviceSlice upload(int rank, DType dtype, double[] values) {
        DeviceBuffer buffer = contexts.get(rank).allocate(Math.max(1, (long) values.length * dtype.bytes()));
        DeviceSlice slice = new DeviceSlice(buffer, 0, values.length, dtype);
        write(rank, slice, values);
        return slice;
    }

    void write(int rank, DeviceSlice to, double[] values) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate(Math.max(16, to.bytes()), 16);
            for (int i = 0; i < values.length; i++) {
                Elements.setDouble(to.dtype(), host, i, values[i]);
            }
            streams.get(rank).copyToDevice(host.asSlice(0, to.bytes()), to.memory(), to.offset());
        }
    }

    double[] download(int rank, DeviceSlice from) {
        double[] values = new double[Math.toIntExact(from.length())];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate(Math.max(16, from.bytes()), 16);
            streams.get(rank).copyToHost(from.memory(), from.offset(), host.asSlice(0, from.bytes()));
            for (int i = 0; i < values.length; i++) {
                values[i] = Elements.getDouble(from.dtype(), host, i);
            }
        }
        return values;
    }

    @Override
    public void close() {
        contexts.forEach(GpuContext::close);
    }
}
