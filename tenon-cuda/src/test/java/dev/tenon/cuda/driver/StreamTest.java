package dev.tenon.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Launches with their attributes, copies, order between streams. */
@Tag("gpu")
class StreamTest {
    private static final int ONES = 1 << 24;

    @Test
    void copiesOfEveryKindOfHostMemory() {
        try (Gpu gpu = Gpu.open();
                Arena arena = Arena.ofConfined();
                DeviceBuffer buffer = gpu.context.allocate(16);
                DeviceBuffer other = gpu.context.allocate(32);
                PinnedBuffer pinned = gpu.context.allocatePinned(16)) {
            MemorySegment confined = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 4);
            gpu.stream.copyToDevice(confined, buffer, 0);
            confined.fill((byte) 0); // it has been read
            assertThat(gpu.download(buffer)).containsExactly(1, 2, 3, 4);
            gpu.stream.copy(buffer, 4, other, 20, 12);
            MemorySegment back = arena.allocate(12, 4);
            gpu.stream.copyToHost(other, 20, back);
            assertThat(back.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(2, 3, 4);
            gpu.stream.copyToHost(buffer, 0, pinned.segment());
            gpu.stream.synchronize();
            assertThat(pinned.segment().toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2, 3, 4);
            gpu.stream.copyToDevice(pinned.segment().asSlice(4, 8), buffer, 0);
            assertThat(gpu.download(buffer)).containsExactly(2, 3, 3, 4);
            gpu.stream.copyToDevice(MemorySegment.ofArray(new float[0]), buffer, 16);
            assertThatThrownBy(() -> gpu.stream.copyToDevice(confined, buffer, 1))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("16 bytes at 1 are not within a buffer of 16 bytes");
            assertThatThrownBy(() -> gpu.stream.copyToHost(buffer, 0, confined.asReadOnly()))
                    .isInstanceOf(InputException.class);
        }
    }

    @Test
    @DisplayName("MS-01 freed memory is not reused while a kernel reads it")
    void freedMemoryIsNotReusedWhileAKernelReadsIt() { // MS-01
        try (Gpu gpu = Gpu.open();
                GpuStream other = gpu.context.newStream();
                DeviceBuffer sum = gpu.context.allocate(8)) {
            for (int run = 0; run < 20; run++) {
                DeviceBuffer ones = gpu.context.allocate(4L * ONES);
                set(gpu, gpu.stream, ones, 1);
                gpu.stream.launch(
                        gpu.module.function("late_sum"),
                        LaunchShape.of(1, 256),
                        gpu.arguments().add(ones).add(sum).add(ONES).add(20_000_000L));
                ones.close();
                try (DeviceBuffer reused = gpu.context.allocate(4L * ONES)) {
                    set(gpu, other, reused, -1);
                    double[] total = new double[1];
                    gpu.stream.copyToHost(sum, 0, MemorySegment.ofArray(total));
                    assertThat(total[0]).isEqualTo(ONES);
                    float[] some = new float[1000];
                    other.copyToHost(reused, 4L * (ONES - 1000), MemorySegment.ofArray(some));
                    assertThat(some).containsOnly(-1);
                }
            }
        }
    }

    @Test
    void eventsOrderStreamsAndMeasure() {
        try (Gpu gpu = Gpu.open();
                GpuStream other = gpu.context.newStream();
                DeviceBuffer x = gpu.context.allocate(4L * ONES);
                DeviceBuffer sum = gpu.context.allocate(8);
                GpuEvent start = gpu.context.newEvent(true);
                GpuEvent end = gpu.context.newEvent(true);
                GpuEvent plain = gpu.context.newEvent(false)) {
            assertThat(plain.passed()).isTrue();
            set(gpu, gpu.stream, x, 1);
            gpu.stream.record(start);
            gpu.stream.launch(
                    gpu.module.function("late_sum"),
                    LaunchShape.of(1, 256),
                    gpu.arguments().add(x).add(sum).add(ONES).add(30_000_000L));
            gpu.stream.record(end);
            assertThat(gpu.stream.idle()).isFalse();
            assertThat(end.passed()).isFalse();
            other.await(end);
            set(gpu, other, x, 5);
            other.synchronize();
            assertThat(end.passed()).isTrue();
            double[] total = new double[1];
            other.copyToHost(sum, 0, MemorySegment.ofArray(total));
            assertThat(total[0]).isEqualTo(ONES);
            assertThat(end.microsecondsSince(start)).isBetween(30_000.0, 5_000_000.0);
            assertThatThrownBy(() -> plain.microsecondsSince(start)).isInstanceOf(InputException.class);
        }
    }

    @Test
    void cooperativeGridsSynchronise() {
        try (Gpu gpu = Gpu.open()) {
            GpuFunction function = gpu.module.function("all_blocks");
            int blocks = Math.min(
                    64,
                    function.blocksPerMultiprocessor(64, 0)
                            * gpu.context.device().multiprocessors());
            try (DeviceBuffer counter = gpu.context.allocate(8);
                    DeviceBuffer seen = gpu.context.allocate(4L * blocks)) {
                gpu.stream.fill(counter, 0, 8, (byte) 0);
                gpu.stream.launch(
                        function,
                        LaunchShape.of(blocks, 64).withCooperative(),
                        gpu.arguments().add(counter).add(seen));
                assertThat(gpu.ints(seen)).containsOnly(blocks);
            }
            assertThatThrownBy(() -> gpu.stream.launch(
                            function,
                            LaunchShape.of(1_000_000, 64).withCooperative(),
                            gpu.arguments().add(0L).add(0L)))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("cooperative grid");
            gpu.usable();
        }
    }

    @Test
    void clustersAndProgrammaticLaunches() {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer sizes = gpu.context.allocate(4 * 16)) {
            boolean clusters = gpu.context.device().architecture().major() >= 9;
            if (clusters) {
                gpu.stream.launch(
                        gpu.module.function("cluster_size"),
                        LaunchShape.of(16, 32).withCluster(4).withProgrammatic(),
                        gpu.arguments().add(sizes));
                assertThat(gpu.ints(sizes)).containsOnly(4);
                assertThatThrownBy(() -> gpu.stream.launch(
                                gpu.module.function("cluster_size"),
                                LaunchShape.of(15, 32).withCluster(4),
                                gpu.arguments().add(sizes)))
                        .isInstanceOf(NativeException.class)
                        .hasMessageContaining("do not divide");
                gpu.stream.launch(
                        gpu.module.function("cluster_size"),
                        LaunchShape.of(16, 32).withCluster(16),
                        gpu.arguments().add(sizes));
                assertThat(gpu.ints(sizes)).containsOnly(16);
            }
            gpu.stream.launch(
                    gpu.module.function("cluster_size"),
                    LaunchShape.of(16, 32),
                    gpu.arguments().add(sizes));
            assertThat(gpu.ints(sizes)).containsOnly(1);
        }
    }

    @Test
    void sharedMemoryBeyondTheDefaultIsAskedFor() {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer y = gpu.context.allocate(4)) {
            GpuFunction function = gpu.module.function("dynamic");
            int bytes = gpu.context.device().sharedBytesPerBlockOptIn();
            assertThatThrownBy(() -> gpu.stream.launch(
                            function,
                            LaunchShape.of(1, 64).withSharedBytes(bytes),
                            gpu.arguments().add(y).add(bytes / 4)))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining(
                            "allowed up to " + gpu.context.device().sharedBytesPerBlock());
            function.allowSharedBytes(bytes);
            function.allowSharedBytes(100);
            gpu.stream.launch(
                    function,
                    LaunchShape.of(1, 64).withSharedBytes(bytes),
                    gpu.arguments().add(y).add(bytes / 4));
            assertThat(gpu.download(y)).containsExactly(bytes / 4 - 1);
            assertThatThrownBy(() -> function.allowSharedBytes(bytes + 4)).isInstanceOf(NativeException.class);
            assertThat(function.resources().registers()).isBetween(1, 255);
            assertThat(function.resources().maxThreads()).isEqualTo(1024);
        }
    }

    @Test
    void wrongLaunchesAreErrorsThatNameTheLimit() {
        try (Gpu gpu = Gpu.open()) {
            DeviceBuffer y = gpu.context.allocate(16);
            GpuFunction set = gpu.module.function("set");
            assertThatThrownBy(() -> gpu.stream.launch(
                            set,
                            LaunchShape.of(1, 2048),
                            gpu.arguments().add(y).add(1f).add(4)))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("launch of set")
                    .hasMessageContaining("at most 1024 threads");
            assertThatThrownBy(() -> gpu.stream.launch(
                            set,
                            LaunchShape.of(1, 65536, 1, 32),
                            gpu.arguments().add(y).add(1f).add(4)))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("65535 blocks along y and z");
            assertThatThrownBy(() -> gpu.stream.launch(
                            set, LaunchShape.of(1, 32), gpu.arguments().add(y)))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("1 arguments; the kernel has 3 parameters");
            assertThatThrownBy(() -> gpu.module.function("no_such"))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("no_such")
                    .hasMessageContaining("axpb");
            y.close();
            assertThatThrownBy(() -> gpu.arguments().add(y)).isInstanceOf(ClosedException.class);
            gpu.usable();
        }
    }

    private static void set(Gpu gpu, GpuStream stream, DeviceBuffer buffer, float value) {
        int n = Math.toIntExact(buffer.bytes() / 4);
        stream.launch(
                gpu.module.function("set"),
                LaunchShape.of(Math.min(1024, (n + 255) / 256), 256),
                gpu.arguments().add(buffer).add(value).add(n));
    }

    @Test
    void fillsAndBytes() {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer y = gpu.context.allocate(64);
                DeviceBuffer empty = gpu.context.allocate(0)) {
            gpu.stream.fill(y, 0, 64, (byte) 7);
            gpu.stream.fill(y, 8, 8, (byte) -1);
            int[] expected = new int[16];
            Arrays.fill(expected, 0x07070707);
            Arrays.fill(expected, 2, 4, -1);
            assertThat(gpu.ints(y)).containsExactly(expected);
            assertThat(empty.bytes()).isZero();
            assertThat(y.address() % 256).isZero();
            gpu.stream.copy(empty, 0, y, 64, 0);
        }
    }
}
