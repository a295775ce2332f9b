package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DeviceLostException;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Accesses of two streams to the same memory must be ordered by events, whatever order the threads happen to take. */
class StreamOrderTest {
    private static final LaunchShape ONE = LaunchShape.of(1, 1);
    private Harness harness;
    private GpuStream second;
    private GpuEvent event;

    @BeforeEach
    void open() {
        Harness.require();
        harness = new Harness("streams.cu", Harness.options(true).withOrdered(true));
        second = harness.context.newStream();
        event = harness.context.newEvent(false);
    }

    @AfterEach
    void close() {
        if (harness != null) {
            harness.close();
        }
    }

    private void affine(GpuStream stream, DeviceBuffer x, DeviceBuffer y) {
        try (Arena arena = Arena.ofConfined()) {
            KernelArguments arguments =
                    new KernelArguments(arena).add(x).add(y).add(2f).add(1f).add(1);
            stream.launch(harness.module.function("affine"), ONE, arguments);
        }
    }

    /** Waits by a call that is no wait in the order of the streams. */
    private static void settled(GpuStream stream) {
        try {
            Thread.sleep(30);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(stream).isNotNull();
    }

    private void expectRace(String what) {
        assertThatThrownBy(() -> {
                    second.synchronize();
                    harness.stream.synchronize();
                })
                .isInstanceOf(DeviceLostException.class)
                .hasMessageContaining("race between streams")
                .hasMessageContaining(what);
    }

    @Test
    void readOfWhatAnotherStreamWritesIsRefused() {
        DeviceBuffer x = harness.upload(1f);
        DeviceBuffer y = harness.upload(0f);
        DeviceBuffer z = harness.upload(0f);
        harness.stream.synchronize();
        affine(harness.stream, x, y);
        settled(harness.stream);
        affine(second, y, z);
        expectRace("kernel affine");
    }

    @Test
    void writeOverWhatAnotherStreamReadsIsRefused() {
        DeviceBuffer x = harness.upload(1f);
        DeviceBuffer y = harness.upload(0f);
        harness.stream.synchronize();
        affine(harness.stream, x, y);
        settled(harness.stream);
        second.fill(x, 0, 4, (byte) 0);
        expectRace("write of 4 bytes at offset 0 of a buffer of 4 bytes");
    }

    @Test
    void readsOfTheSameMemoryNeedNoOrder() {
        DeviceBuffer x = harness.upload(1f);
        DeviceBuffer y = harness.upload(0f);
        DeviceBuffer z = harness.upload(0f);
        harness.stream.synchronize();
        affine(harness.stream, x, y);
        affine(second, x, z);
        second.synchronize();
        assertThat(harness.floats(y)).containsExactly(3f);
        assertThat(harness.floats(z)).containsExactly(3f);
    }

    @Test
    void eventsAndWaitsOfTheHostOrderStreams() {
        DeviceBuffer x = harness.upload(1f);
        DeviceBuffer y = harness.upload(0f);
        harness.stream.synchronize();
        affine(harness.stream, x, y);
        harness.stream.record(event);
        second.await(event);
        affine(second, y, x);
        second.synchronize();
        affine(harness.stream, x, y);
        assertThat(harness.floats(y)).containsExactly(15f);
    }

    @Test
    void replaysAreCheckedToo() {
        DeviceBuffer x = harness.upload(1f);
        DeviceBuffer y = harness.upload(0f);
        DeviceBuffer z = harness.upload(0f);
        harness.stream.synchronize();
        try (ExecutableGraph right = fork(x, y, z, true)) {
            harness.stream.launch(right);
            harness.stream.launch(right);
            assertThat(harness.floats(z)).containsExactly(7f);
        }
        try (ExecutableGraph wrong = fork(x, y, z, false)) {
            harness.stream.launch(wrong);
            expectRace("kernel affine");
        }
    }

    /** y of x on one stream and z of y on the other, which waits for y or only for what was before it. */
    private ExecutableGraph fork(DeviceBuffer x, DeviceBuffer y, DeviceBuffer z, boolean late) {
        harness.stream.beginCapture();
        if (!late) {
            harness.stream.record(event);
            second.await(event);
        }
        affine(harness.stream, x, y);
        if (late) {
            harness.stream.record(event);
            second.await(event);
        }
        affine(second, y, z);
        try (GpuEvent end = harness.context.newEvent(false)) {
            second.record(end);
            harness.stream.await(end);
        }
        try (CapturedGraph captured = harness.stream.endCapture()) {
            return captured.instantiate();
        }
    }

    @Test
    void memoryThatWasFreedIsForgotten() {
        for (int i = 0; i < 50; i++) {
            try (DeviceBuffer x = harness.context.allocate(8192)) {
                GpuStream stream = i % 2 == 0 ? second : harness.stream;
                stream.fill(x, 0, 8192, (byte) i);
                stream.copyToHost(x, 0, MemorySegment.ofArray(new byte[8192]));
            }
        }
    }
}
