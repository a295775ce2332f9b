package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.PinnedBuffer;
import dev.tenon.cuda.port.TensorMap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams are queues of their own, events order them, memory is counted (OM-01), any thread may call (TH-01). */
class StreamsTest {
    /** Streams of earlier tests of this JVM that may still be ending. */
    private static final Set<Thread> BEFORE = streams();

    private static final LaunchShape ONE = LaunchShape.of(1, 1);
    private Harness harness;

    @BeforeEach
    void open() {
        Harness.require();
        harness = new Harness("streams.cu", Harness.options(true));
    }

    @AfterEach
    void close() {
        if (harness != null) {
            harness.close();
        }
    }

    @Test
    void launchesAreAsynchronousAndInOrder() {
        DeviceBuffer y = harness.upload(0f);
        harness.stream.synchronize();
        long before = System.nanoTime();
        harness.launch("slow", ONE, y, 1f, 150);
        harness.launch("affine", ONE, y, y, 2f, 1f, 1);
        assertThat(System.nanoTime() - before).isLessThan(120_000_000L);
        assertThat(harness.stream.idle()).isFalse();
        assertThat(harness.floats(y)[0]).isEqualTo(3f);
        assertThat(harness.stream.idle()).isTrue();
    }

    @Test
    void bulkCopiesAreForOtherDevices() {
        TensorMap map =
                new TensorMap(TensorMap.Element.F32, 0, List.of(64L), List.of(), List.of(4), TensorMap.Swizzle.NONE);
        assertThatThrownBy(() -> harness.context.encode(map))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("compute capability 9.0");
    }

    @Test
    void eventsOrderStreams() {
        try (GpuStream second = harness.context.newStream();
                GpuEvent event = harness.context.newEvent(true);
                GpuEvent start = harness.context.newEvent(true)) {
            assertThat(event.passed()).isTrue();
            DeviceBuffer x = harness.upload(0f);
            DeviceBuffer y = harness.upload(0f, 0f);
            harness.stream.synchronize();
            harness.stream.record(start);
            harness.launch("slow", ONE, x, 5f, 150);
            harness.stream.record(event);
            // without the event the second stream sees the old value: they really run side by side
            second.copy(x, 0, y, 0, 4);
            second.synchronize();
            assertThat(event.passed()).isFalse();
            second.await(event);
            second.copy(x, 0, y, 4, 4);
            second.synchronize();
            assertThat(event.passed()).isTrue();
            assertThat(harness.floats(y)).containsExactly(0f, 5f);
            assertThat(event.microsecondsSince(start)).isBetween(100_000.0, 5_000_000.0);
        }
    }

    @Test
    void pinnedMemoryIsReadLate() {
        try (PinnedBuffer pinned = harness.context.allocatePinned(4);
                DeviceBuffer y = harness.upload(0f)) {
            pinned.segment().set(ValueLayout.JAVA_FLOAT, 0, 1f);
            harness.launch("slow", ONE, y, 9f, 100);
            harness.stream.copyToDevice(pinned.segment(), y, 0);
            pinned.segment().set(ValueLayout.JAVA_FLOAT, 0, 2f); // too early: this is what arrives
            harness.stream.synchronize();
            assertThat(harness.floats(y)[0]).isEqualTo(2f);
            MemorySegment pageable = Arena.ofAuto().allocate(4);
            pageable.set(ValueLayout.JAVA_FLOAT, 0, 3f);
            harness.launch("slow", ONE, y, 9f, 100);
            harness.stream.copyToDevice(pageable, y, 0);
            pageable.set(ValueLayout.JAVA_FLOAT, 0, 4f);
            assertThat(harness.floats(y)[0]).isEqualTo(3f);
        }
    }

    @Test
    void outOfMemoryIsNoEnd() {
        GpuContext.MemoryInfo before = harness.context.memoryInfo();
        for (int i = 0; i < 100; i++) {
            assertThatThrownBy(() -> harness.context.allocate(2 * before.total()))
                    .isInstanceOf(OutOfMemoryException.class)
                    .hasMessageContaining(String.valueOf(2 * before.total()))
                    .hasMessageContaining(String.valueOf(before.free()));
            try (DeviceBuffer x = harness.upload(1f, 2f, 3f);
                    DeviceBuffer y = harness.context.allocate(12)) {
                harness.run("affine", LaunchShape.of(1, 3), x, y, 1f, 1f, 3);
                assertThat(harness.floats(y)).containsExactly(2f, 3f, 4f);
            }
        }
        assertThat(harness.context.memoryInfo()).isEqualTo(before);
        try (DeviceBuffer all = harness.context.allocate(before.free())) {
            assertThat(harness.context.memoryInfo().free()).isZero();
            assertThatThrownBy(() -> harness.context.allocate(1)).isInstanceOf(OutOfMemoryException.class);
            assertThat(all.address() % 256).isZero();
        }
        assertThat(harness.context.memoryInfo()).isEqualTo(before);
        harness.context.allocate(0).close();
    }

    @Test
    void anyThreadMayCall() throws Exception {
        List<Future<Float>> results = new ArrayList<>();
        try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
                ExecutorService platform = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 200; i++) {
                float value = i;
                Callable<Float> task = () -> addOne(value);
                results.add((i % 4 == 0 ? platform : virtual).submit(task));
            }
            for (int i = 0; i < results.size(); i++) {
                assertThat(results.get(i).get()).isEqualTo(i + 1f);
            }
        }
    }

    private float addOne(float value) throws InterruptedException {
        try (Arena arena = Arena.ofShared();
                GpuStream stream = harness.context.newStream();
                DeviceBuffer x = harness.context.allocate(4)) {
            float[] host = {value};
            stream.copyToDevice(MemorySegment.ofArray(host), x, 0);
            KernelArguments arguments =
                    new KernelArguments(arena).add(x).add(x).add(1f).add(1f).add(1);
            stream.launch(harness.module.function("affine"), ONE, arguments);
            Thread.sleep(2); // a virtual thread goes on on another carrier
            stream.copyToHost(x, 0, MemorySegment.ofArray(host));
            return host[0];
        }
    }

    @Test
    void closingEndsEveryThread() throws IOException {
        assertThat(workers()).isGreaterThanOrEqualTo(2);
        long others = workers() - 2;
        DeviceBuffer y = harness.upload(0f);
        harness.launch("slow", ONE, y, 1f, 100);
        harness.close();
        assertThatThrownBy(y::address).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> harness.context.allocate(4)).isInstanceOf(ClosedException.class);
        harness.context.close();
        assertThat(streams()).isSubsetOf(BEFORE);
        assertThat(workers()).isEqualTo(others);
        harness = null;
    }

    private static Set<Thread> streams() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("tenon-emulator-stream"))
                .collect(Collectors.toSet());
    }

    /** Threads of the runtime, which the JVM does not know of. */
    private static long workers() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return tasks.filter(task -> {
                        try {
                            return Files.readString(task.resolve("comm"))
                                    .strip()
                                    .equals("tenon-emulator");
                        } catch (IOException _) {
                            return false; // ended meanwhile
                        }
                    })
                    .count();
        }
    }
}
