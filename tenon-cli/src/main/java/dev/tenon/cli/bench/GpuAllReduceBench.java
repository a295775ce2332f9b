package dev.tenon.cli.bench;

import dev.tenon.cli.console.Samples;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.cuda.collective.DeviceSlice;
import dev.tenon.cuda.collective.GpuCollectiveOptions;
import dev.tenon.cuda.collective.GpuCommunicator;
import dev.tenon.cuda.collective.GpuGroup;
import dev.tenon.cuda.collective.OneShotGroup;
import dev.tenon.cuda.collective.OneShotRank;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.GpuStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Times all-reduces (f32, sum, in place) between the GPUs of this process, a thread for each: one by one, each with a
 * wait, and captured into a graph.
 */
final class GpuAllReduceBench implements AutoCloseable {
    /** All-reduces that a graph holds. */
    static final int CAPTURED = 20;

    /**
     * The JVM compiles what a call runs through for the second time, and for good, after about so many calls: a
     * variant's first size makes them before it is timed.
     */
    private static final int COMPILED = 6_000;

    private static final int LARGEST_CHECK = 1 << 18;
    private static final long LARGE = 16 << 20;

    /**
     * How one variant did at one size.
     *
     * @param calls times of a call and a wait, on rank 0
     * @param graphMicros the median over replays of a graph's time on rank 0's device, divided by the all-reduces in it
     */
    record Measured(int world, long bytes, String variant, Samples calls, double graphMicros) {
        double gigabytesPerSecond() {
            return bytes / graphMicros / 1e3;
        }

        /** What a ring's links would have to carry for that. */
        double busGigabytesPerSecond() {
            return gigabytesPerSecond() * 2 * (world - 1) / world;
        }
    }

    /** Enqueues a rank's all-reduce on a stream. */
    private interface Enqueue {
        void on(int rank, GpuStream stream, DeviceSlice data);
    }

    private final List<GpuContext> contexts = new ArrayList<>();
    private final List<GpuStream> streams = new ArrayList<>();
    private final List<GpuCommunicator> communicators = new ArrayList<>();
    private final Set<String> warm = new HashSet<>();
    private final ExecutorService threads;
    private final GpuGroup group;
    private final Map<OneShotGroup.Form, OneShotGroup> oneShots = new EnumMap<>(OneShotGroup.Form.class);

    GpuAllReduceBench(GpuPlatform platform, int world) {
        int devices = platform.driver().devices().size();
        int ranks = world == 0 ? devices : world;
        if (ranks < 1 || ranks > devices) {
            throw new InputException(
                    devices == 0
                            ? platform.name() + ": no device: "
                                    + platform.driver().unavailable()
                            : "--world " + ranks + " is not possible; there are " + devices + " device(s) of "
                                    + platform.name());
        }
        for (int ordinal = 0; ordinal < ranks; ordinal++) {
            contexts.add(platform.driver().open(ordinal));
            streams.add(contexts.get(ordinal).newStream());
        }
        threads = Executors.newFixedThreadPool(
                ranks, Thread.ofPlatform().daemon().name("rank-", 0).factory());
        group = GpuGroup.open(
                platform, contexts, GpuCollectiveOptions.defaults().withOneShot(false));
        for (int rank = 0; rank < ranks; rank++) {
            communicators.add(group.communicator(rank).on(streams.get(rank)));
        }
        if (OneShotGroup.unavailable(contexts).isEmpty()) {
            for (OneShotGroup.Form form : OneShotGroup.Form.values()) {
                oneShots.put(form, OneShotGroup.open(contexts, platform.compiler(), form));
            }
        }
    }

    int world() {
        return contexts.size();
    }

    String card() {
        return contexts.getFirst().device().name();
    }

    /** NCCL, and the forms over peer memory where they take such a size. */
    List<Measured> measure(long bytes) {
        List<DeviceSlice> data = new ArrayList<>();
        try {
            for (GpuContext context : contexts) {
                data.add(DeviceSlice.of(context.allocate(bytes), DType.F32));
            }
            List<Measured> measured = new ArrayList<>();
            measured.add(measure(
                    bytes,
                    "nccl",
                    data,
                    (rank, _, slice) -> communicators.get(rank).allReduce(slice, slice, ReduceOp.SUM)));
            if (OneShotRank.takes(DType.F32, bytes / 4, ReduceOp.SUM)) {
                oneShots.forEach((form, oneShot) -> measured.add(measure(
                        bytes,
                        form == OneShotGroup.Form.FAST ? "oneshot" : "oneshot_flags",
                        data,
                        (rank, stream, slice) -> oneShot.rank(rank).enqueue(stream, slice, slice, ReduceOp.SUM))));
            }
            return measured;
        } finally {
            data.forEach(slice -> slice.memory().close());
        }
    }

    private Measured measure(long bytes, String variant, List<DeviceSlice> data, Enqueue enqueue) {
        check(data, variant, enqueue);
        int runs = bytes > LARGE ? 10 : 200;
        boolean first = bytes <= LARGE && warm.add(variant);
        double[][] calls = new double[1][];
        double[] graph = new double[1];
        parallel(rank -> {
            GpuStream stream = streams.get(rank);
            stream.fill(data.get(rank).memory(), 0, bytes, (byte) 0); // sums of zeros do not run away
            Runnable once = () -> {
                enqueue.on(rank, stream, data.get(rank));
                communicators.get(rank).await();
            };
            if (first) {
                calls(once, COMPILED);
            }
            double[] micros = calls(once, 3 * runs); // the first two thirds warm up
            double[] measured = Arrays.copyOfRange(micros, 2 * runs, 3 * runs);
            double inGraph = inGraph(rank, () -> enqueue.on(rank, stream, data.get(rank)), bytes > LARGE ? 5 : 50);
            if (rank == 0) {
                calls[0] = measured;
                graph[0] = inGraph;
            }
        });
        return new Measured(world(), bytes, variant, Samples.of(calls[0]), graph[0]);
    }

    private static double[] calls(Runnable once, int runs) {
        double[] micros = new double[runs];
        for (int run = 0; run < runs; run++) {
            long before = System.nanoTime();
            once.run();
            micros[run] = (System.nanoTime() - before) / 1e3;
        }
        return micros;
    }

    private double inGraph(int rank, Runnable work, int replays) {
        GpuStream stream = streams.get(rank);
        GpuContext context = contexts.get(rank);
        stream.beginCapture();
        for (int i = 0; i < CAPTURED; i++) {
            work.run();
        }
        try (CapturedGraph captured = stream.endCapture();
                ExecutableGraph graph = captured.instantiate();
                GpuEvent start = context.newEvent(true);
                GpuEvent end = context.newEvent(true)) {
            double[] micros = new double[replays];
            stream.launch(graph);
            for (int replay = 0; replay < replays; replay++) {
                stream.launch(graph); // so that the devices are in step, and busy, when the events come
                stream.record(start);
                stream.launch(graph);
                stream.record(end);
                communicators.get(rank).await();
                micros[replay] = end.microsecondsSince(start) / CAPTURED;
            }
            Arrays.sort(micros);
            return micros[replays / 2];
        }
    }

    /** The results are right before they are timed: the first and the last elements of every rank's vector. */
    private void check(List<DeviceSlice> data, String variant, Enqueue enqueue) {
        long length = data.getFirst().length();
        int count = (int) Math.min(length, LARGEST_CHECK);
        long[] starts = {0, length - count};
        parallel(rank -> {
            GpuStream stream = streams.get(rank);
            DeviceBuffer memory = data.get(rank).memory();
            for (long start : starts) {
                float[] own = new float[count];
                for (int i = 0; i < count; i++) {
                    own[i] = element(rank, start + i);
                }
                stream.copyToDevice(MemorySegment.ofArray(own), memory, 4 * start);
            }
            enqueue.on(rank, stream, data.get(rank));
            communicators.get(rank).await();
            for (long start : starts) {
                float[] result = new float[count];
                stream.copyToHost(memory, 4 * start, MemorySegment.ofArray(result));
                for (int i = 0; i < count; i++) {
                    float expected = 0;
                    for (int other = 0; other < world(); other++) {
                        expected += element(other, start + i);
                    }
                    if (result[i] != expected) {
                        throw new IllegalStateException(variant + ": the all-reduce of " + length
                                + " elements is wrong: element " + (start + i) + " of rank " + rank + " is " + result[i]
                                + ", expected " + expected);
                    }
                }
            }
        });
    }

    /** Small whole numbers, whose sums are exact in any order. */
    private static float element(int rank, long i) {
        return 7L * (rank + 1) + i % 1009;
    }

    /** What a rank does on its thread. */
    private interface RankTask {
        void run(int rank);
    }

    private void parallel(RankTask task) {
        List<Future<?>> running = new ArrayList<>();
        for (int rank = 0; rank < world(); rank++) {
            int own = rank;
            running.add(threads.submit(() -> {
                try {
                    task.run(own);
                } catch (RuntimeException | Error e) {
                    oneShots.values().forEach(oneShot -> oneShot.rank(own).stop());
                    communicators.get(own).abort("rank " + own + " failed: " + e.getMessage());
                    throw e;
                }
            }));
        }
        RuntimeException failure = null;
        for (Future<?> one : running) {
            try {
                one.get();
            } catch (ExecutionException e) {
                failure = failure == null && e.getCause() instanceof RuntimeException cause ? cause : failure;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                communicators.getFirst().abort("interrupted");
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void close() {
        threads.shutdown();
        group.close();
        oneShots.values().forEach(OneShotGroup::close);
        contexts.forEach(GpuContext::close);
    }
}
