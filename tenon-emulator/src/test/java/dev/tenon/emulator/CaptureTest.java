package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.CaptureException;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Recording, replay, update, and calls that cannot be recorded (CG-01). */
class CaptureTest {
    private static final LaunchShape FOUR = LaunchShape.of(1, 4);
    private Harness harness;
    private DeviceBuffer x;
    private DeviceBuffer y;

    @BeforeEach
    void open() {
        Harness.require();
        harness = new Harness("streams.cu", Harness.options(true));
        x = harness.upload(1f, 2f, 3f, 4f);
        y = harness.upload(new float[4]);
    }

    @AfterEach
    void close() {
        if (harness != null) {
            harness.close();
        }
    }

    private void work(float a) {
        harness.launch("affine", FOUR, x, y, a, 1f, 4);
    }

    private CapturedGraph capture(float a) {
        harness.stream.beginCapture();
        work(a);
        return harness.stream.endCapture();
    }

    @Test
    @DisplayName("CG-01 records replays and updates")
    void recordsReplaysAndUpdates() {
        try (CapturedGraph graph = capture(2);
                ExecutableGraph executable = graph.instantiate()) {
            assertThat(graph.nodes()).isEqualTo(1);
            assertThat(graph.allocates()).isFalse();
            assertThat(harness.floats(y)).containsOnly(0f);
            harness.stream.launch(executable);
            assertThat(harness.floats(y)).containsExactly(3f, 5f, 7f, 9f);
            harness.stream.copyToDevice(MemorySegment.ofArray(new float[] {10, 20, 30, 40}), x, 0);
            harness.stream.launch(executable);
            assertThat(harness.floats(y)).containsExactly(21f, 41f, 61f, 81f);
            try (CapturedGraph newer = capture(5)) {
                assertThat(executable.update(newer)).isTrue();
            }
            harness.stream.launch(executable);
            assertThat(harness.floats(y)).containsExactly(51f, 101f, 151f, 201f);
            harness.stream.beginCapture();
            work(1);
            work(2);
            try (CapturedGraph other = harness.stream.endCapture()) {
                assertThat(executable.update(other)).isFalse();
            }
        }
    }

    @Test
    void otherStreamsJoinByEvents() {
        try (GpuStream side = harness.context.newStream();
                GpuEvent fork = harness.context.newEvent(false);
                GpuEvent join = harness.context.newEvent(false)) {
            harness.stream.beginCapture();
            work(2);
            harness.stream.record(fork);
            side.await(fork);
            assertThat(side.capturing()).isTrue();
            side.copy(y, 0, x, 0, 16);
            side.record(join);
            harness.stream.await(join);
            work(1);
            try (CapturedGraph graph = harness.stream.endCapture();
                    ExecutableGraph executable = graph.instantiate()) {
                assertThat(side.capturing()).isFalse();
                assertThat(graph.nodes()).isEqualTo(3);
                harness.stream.launch(executable);
                assertThat(harness.floats(y)).containsExactly(4f, 6f, 8f, 10f);
            }
            harness.stream.beginCapture();
            harness.stream.record(fork);
            side.await(fork);
            side.fill(y, 0, 4, (byte) 0);
            assertThatThrownBy(harness.stream::endCapture)
                    .isInstanceOf(CaptureException.class)
                    .hasMessageContaining("does not wait for");
            side.synchronize();
        }
    }

    @Test
    @DisplayName("CG-01 calls that cannot be recorded")
    void callsThatCannotBeRecorded() {
        GpuEvent event = harness.context.newEvent(false);
        Map<String, Runnable> calls = new LinkedHashMap<>();
        calls.put("memory allocation", () -> harness.context.allocate(4));
        calls.put("copy from pageable memory", () -> harness.upload(1f));
        calls.put("copy to pageable memory", () -> harness.floats(y));
        calls.put("stream synchronize", harness.stream::synchronize);
        calls.put("stream query", harness.stream::idle);
        calls.put("context synchronize", harness.context::synchronize);
        calls.put("event query", event::passed);
        calls.put("event synchronize", event::synchronize);
        calls.forEach((name, call) -> {
            harness.stream.beginCapture();
            work(2);
            if (name.equals("copy from pageable memory")) {
                assertThatThrownBy(() -> harness.stream.copyToDevice(MemorySegment.ofArray(new float[4]), x, 0))
                        .isInstanceOf(CaptureException.class)
                        .hasMessageContaining(name);
            } else {
                assertThatThrownBy(call::run)
                        .isInstanceOf(CaptureException.class)
                        .hasMessageContaining(name);
            }
            assertThatThrownBy(harness.stream::endCapture)
                    .isInstanceOf(CaptureException.class)
                    .hasMessageContaining(name);
            assertThat(harness.stream.capturing()).isFalse();
            work(2);
            assertThat(harness.floats(y)).containsExactly(3f, 5f, 7f, 9f);
            harness.stream.fill(y, 0, 16, (byte) 0);
            try (CapturedGraph graph = capture(2);
                    ExecutableGraph executable = graph.instantiate()) {
                harness.stream.launch(executable);
                assertThat(harness.floats(y)).containsExactly(3f, 5f, 7f, 9f);
            }
        });
        harness.stream.beginCapture();
        work(3);
        harness.stream.abortCapture();
        harness.stream.abortCapture();
        assertThat(harness.floats(y)).containsExactly(3f, 5f, 7f, 9f);
        assertThatThrownBy(harness.stream::endCapture).isInstanceOf(CaptureException.class);
    }
}
