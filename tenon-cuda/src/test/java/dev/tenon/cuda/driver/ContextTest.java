package dev.tenon.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.testkit.Await;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Opening, closing, threads (case TH-01), memory (OM-01 a). */
@Tag("gpu")
class ContextTest {
    @Test
    void anyThreadMayCall() throws Exception {
        try (Gpu gpu = Gpu.open()) {
            gpu.usable();
            try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
                allRight(threads, gpu, 8, 0);
            }
            allRight(ForkJoinPool.commonPool(), gpu, 16, 0);
            try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
                allRight(virtual, gpu, 1000, 1);
            }
        }
    }

    @Test
    void virtualThreadsCaptureAcrossCarriers() throws Exception {
        try (Gpu gpu = Gpu.open();
                ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                float a = i;
                all.add(virtual.submit(() -> {
                    try (GpuStream stream = gpu.context.newStream();
                            DeviceBuffer x = gpu.context.allocate(16);
                            DeviceBuffer y = gpu.context.allocate(16)) {
                        stream.copyToDevice(MemorySegment.ofArray(new float[] {1, 2, 3, 4}), x, 0);
                        stream.beginCapture();
                        Thread.sleep(2); // each sleep lets the thread go on on another carrier
                        gpu.axpb(stream, x, y, a, 1);
                        Thread.sleep(2);
                        try (var graph = stream.endCapture();
                                var executable = graph.instantiate()) {
                            stream.launch(executable);
                            Thread.sleep(1);
                            assertThat(Gpu.download(stream, y)).containsExactly(a + 1, 2 * a + 1, 3 * a + 1, 4 * a + 1);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        }
    }

    private static void allRight(ExecutorService threads, Gpu gpu, int count, long sleep) throws Exception {
        List<Callable<float[]>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            float b = i;
            tasks.add(() -> {
                try (GpuStream stream = gpu.context.newStream();
                        DeviceBuffer x = gpu.context.allocate(16);
                        DeviceBuffer y = gpu.context.allocate(16)) {
                    Thread.sleep(sleep); // each sleep lets a virtual thread go on on another carrier
                    stream.copyToDevice(MemorySegment.ofArray(new float[] {1, 2, 3, 4}), x, 0);
                    Thread.sleep(sleep);
                    gpu.axpb(stream, x, y, 1, b);
                    Thread.sleep(sleep);
                    return Gpu.download(stream, y);
                }
            });
        }
        int b = 0;
        for (Future<float[]> result : threads.invokeAll(tasks)) {
            assertThat(result.get()).containsExactly(1 + b, 2 + b, 3 + b, 4 + b);
            b++;
        }
    }

    @Test
    void twoDevicesAlternatelyOnOneThread() {
        RequiredGpus.device(1);
        try (Gpu first = Gpu.open(0);
                Gpu second = Gpu.open(1)) {
            for (int i = 0; i < 20; i++) {
                first.usable();
                second.usable();
            }
            if (first.context.canAccess(second.context)) {
                first.context.enableAccess(second.context);
                first.context.enableAccess(second.context);
                try (DeviceBuffer far = second.upload(1, 2, 3, 4);
                        DeviceBuffer near = first.context.allocate(16)) {
                    first.axpb(first.stream, far, near, 2, 1); // the kernel reads the peer's memory
                    assertThat(first.download(near)).containsExactly(3, 5, 7, 9);
                    first.stream.copy(far, 0, near, 0, 16);
                    assertThat(first.download(near)).containsExactly(1, 2, 3, 4);
                }
            }
        }
    }

    @Test
    void memoryOfAnotherThreadIsRefusedBeforeTheDriverSeesIt() throws Exception {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer buffer = gpu.context.allocate(16);
                Arena arena = Arena.ofConfined();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            MemorySegment mine = arena.allocate(16);
            Throwable fault = other.submit(() -> {
                        try {
                            gpu.stream.copyToDevice(mine, buffer, 0);
                            return null;
                        } catch (RuntimeException e) {
                            return e;
                        }
                    })
                    .get();
            assertThat(fault).isInstanceOf(InputException.class).hasMessageContaining("another thread");
        }
    }

    @Test
    void outOfMemoryIsNamedAndHarmless() {
        try (Gpu gpu = Gpu.open()) {
            gpu.usable();
            GpuContext.MemoryInfo before = gpu.context.memoryInfo();
            long asked = 2 * before.total();
            for (int i = 0; i < 100; i++) {
                assertThatThrownBy(() -> gpu.context.allocate(asked))
                        .isInstanceOf(OutOfMemoryException.class)
                        .hasMessageContaining(asked + " bytes asked for")
                        .hasMessageContaining("of " + before.total() + " bytes free");
                gpu.usable();
            }
            assertThat(gpu.context.healthy()).isTrue();
            // more where something else on the card has let go meanwhile
            assertThat(gpu.context.memoryInfo().free()).isGreaterThanOrEqualTo(before.free());
            assertThatThrownBy(() -> gpu.context.allocate(-1)).isInstanceOf(InputException.class);
        }
    }

    @Test
    void memoryGoesBackToTheDriver() {
        long size = 256L << 20;
        try (GpuContext keeps = openContext()) { // so that the context itself does not count
            long before = keeps.memoryInfo().free();
            try (GpuContext context = new CudaDriver().open(0)) {
                try (DeviceBuffer buffer = context.allocate(size)) {
                    assertThat(before - keeps.memoryInfo().free()).isGreaterThanOrEqualTo(size);
                    assertThat(buffer.bytes()).isEqualTo(size);
                }
                assertThat(keeps.memoryInfo().free()).isEqualTo(before);
                context.allocate(size); // left open on purpose: the context closes it
                context.newStream();
                context.newEvent(true);
            }
            assertThat(keeps.memoryInfo().free()).isEqualTo(before);
        }
    }

    @Test
    void everythingClosesTwiceAndInAnyOrder() {
        Gpu gpu = Gpu.open();
        DeviceBuffer buffer = gpu.context.allocate(1024);
        var pinned = gpu.context.allocatePinned(1024);
        MemorySegment segment = pinned.segment();
        var event = gpu.context.newEvent(true);
        gpu.stream.copyToDevice(segment, buffer, 0);
        gpu.stream.beginCapture();
        gpu.close();
        gpu.context.close();
        gpu.stream.close();
        buffer.close();
        pinned.close();
        event.close();
        gpu.module.close();
        assertThatThrownBy(() -> gpu.context.allocate(1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(gpu.stream::synchronize).isInstanceOf(ClosedException.class);
        assertThatThrownBy(buffer::address).isInstanceOf(ClosedException.class);
        assertThatThrownBy(pinned::segment).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        try (Gpu again = Gpu.open()) {
            again.usable();
        }
    }

    @Test
    void closingWaitsForCallsInFlight() throws Exception {
        for (int run = 0; run < 20; run++) {
            Gpu gpu = Gpu.open();
            AtomicInteger fills = new AtomicInteger();
            try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
                List<Future<?>> loops = new ArrayList<>();
                for (int t = 0; t < 4; t++) {
                    loops.add(threads.submit(() -> {
                        while (true) {
                            try (DeviceBuffer x = gpu.context.allocate(4096);
                                    GpuStream stream = gpu.context.newStream()) {
                                stream.fill(x, 0, 4096, (byte) 1);
                                fills.incrementAndGet();
                            }
                        }
                    }));
                }
                int before = 4 + 10 * run;
                Await.until(before + " fills", () -> fills.get() >= before);
                gpu.context.close();
                for (Future<?> loop : loops) {
                    assertThatThrownBy(loop::get).hasCauseInstanceOf(ClosedException.class);
                }
            }
        }
    }

    @Test
    void devicesSayWhatTheyAre() {
        Gpu.require();
        CudaDriver driver = new CudaDriver();
        assertThat(driver.unavailable()).isEmpty();
        assertThat(driver.version()).matches("1[2-9]\\.\\d");
        driver.devices().forEach(device -> {
            assertThat(device.name()).isNotBlank();
            assertThat(device.architecture().number()).isBetween(50, 200);
            assertThat(device.multiprocessors()).isPositive();
            assertThat(device.memoryBytes()).isGreaterThan(1L << 30);
            assertThat(device.sharedBytesPerBlock()).isEqualTo(48 << 10);
            assertThat(device.sharedBytesPerBlockOptIn()).isGreaterThanOrEqualTo(48 << 10);
            assertThat(device.registersPerMultiprocessor()).isEqualTo(65536);
            assertThat(device.l2Bytes()).isPositive();
            assertThat(device.cooperativeLaunch()).isTrue();
        });
        assertThatThrownBy(() -> driver.open(99))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("cuda:99");
    }

    private static GpuContext openContext() {
        Gpu.require();
        return new CudaDriver().open(0);
    }
}
