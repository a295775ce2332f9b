package dev.tenon.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.PinnedBuffer;
import dev.tenon.nativelib.cuda.CuMemory;
import dev.tenon.nativelib.cuda.CuStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Recording, replay, and what must not be recorded (case CG-01). */
@Tag("gpu")
class CaptureTest {
    @Test
    @DisplayName("CG-01 what cannot be recorded is named and the stream stays usable")
    void whatCannotBeRecordedIsNamedAndTheStreamStaysUsable() {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer x = gpu.upload(1, 2, 3, 4);
                DeviceBuffer y = gpu.context.allocate(16);
                GpuEvent event = gpu.context.newEvent(false)) {
            Map<String, Runnable> faults = new LinkedHashMap<>();
            faults.put("cuMemAlloc", () -> gpu.context.allocate(1024).close());
            faults.put("cuMemHostAlloc", () -> gpu.context.allocatePinned(1024).close());
            faults.put("pageable", () -> gpu.stream.copyToDevice(MemorySegment.ofArray(new float[4]), x, 0));
            faults.put("pageable memory", () -> gpu.download(y));
            faults.put("cuStreamSynchronize", gpu.stream::synchronize);
            faults.put("cuStreamQuery", gpu.stream::idle);
            faults.put("cuEventQuery", event::passed);
            faults.put("cuEventSynchronize", event::synchronize);
            faults.put("beginCapture", gpu.stream::beginCapture);
            faults.put("synchronize()", gpu.context::synchronize);
            faults.forEach((call, fault) -> {
                gpu.stream.beginCapture();
                gpu.axpb(gpu.stream, x, y, 2, 1);
                assertThatThrownBy(fault::run)
                        .as(call)
                        .isInstanceOf(CaptureException.class)
                        .hasMessageContaining(call);
                assertThat(gpu.stream.capturing()).as(call).isFalse();
                assertThatThrownBy(gpu.stream::endCapture)
                        .as("end after " + call)
                        .isInstanceOf(CaptureException.class)
                        .hasMessageContaining(call);
                gpu.usable();
                replays(gpu, x, y);
            });
        }
    }

    @Test
    void callsOfOthersThatBreakACaptureAreNoticedAtItsEnd() {
        try (Gpu gpu = Gpu.open();
                Arena arena = Arena.ofConfined();
                DeviceBuffer x = gpu.upload(1, 2, 3, 4);
                DeviceBuffer y = gpu.context.allocate(16)) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            Map<String, Runnable> faults = new LinkedHashMap<>();
            faults.put("cuMemAlloc", () -> CuMemory.cuMemAlloc(out.address(), 1024));
            faults.put("cuStreamSynchronize", () -> CuStream.cuStreamSynchronize(gpu.stream.handle()));
            faults.put("cuStreamQuery", () -> CuStream.cuStreamQuery(gpu.stream.handle()));
            faults.forEach((call, fault) -> {
                gpu.stream.beginCapture();
                gpu.axpb(gpu.stream, x, y, 2, 1);
                fault.run();
                assertThatThrownBy(gpu.stream::endCapture).as(call).isInstanceOf(CaptureException.class);
                gpu.usable();
                replays(gpu, x, y);
            });
        }
    }

    @Test
    void aFailedLaunchDuringCaptureThrowsTheRecordingAway() {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer y = gpu.context.allocate(16)) {
            gpu.stream.beginCapture();
            assertThatThrownBy(() -> gpu.stream.launch(
                            gpu.module.function("set"),
                            dev.tenon.cuda.port.LaunchShape.of(1, 2048),
                            gpu.arguments().add(y).add(1f).add(4)))
                    .isInstanceOf(TenonException.class)
                    .hasMessageContaining("launch of set");
            assertThat(gpu.stream.capturing()).isFalse();
            gpu.usable();
        }
    }

    @Test
    void aGraphIsReplayedUpdatedAndCounted() {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer x = gpu.upload(1, 2, 3, 4);
                DeviceBuffer y = gpu.context.allocate(16);
                DeviceBuffer z = gpu.context.allocate(16);
                PinnedBuffer pinned = gpu.context.allocatePinned(16)) {
            gpu.stream.beginCapture();
            gpu.axpb(gpu.stream, x, y, 2, 1);
            gpu.axpb(gpu.stream, y, z, 10, 0);
            gpu.stream.copyToHost(z, 0, pinned.segment());
            try (CapturedGraph graph = gpu.stream.endCapture()) {
                assertThat(graph.nodes()).isEqualTo(3);
                assertThat(graph.allocates()).isFalse();
                try (ExecutableGraph executable = graph.instantiate()) {
                    for (int run = 0; run < 3; run++) {
                        gpu.stream.fill(z, 0, 16, (byte) 0);
                        gpu.stream.launch(executable);
                        gpu.stream.synchronize();
                        assertThat(pinned.segment().toArray(ValueLayout.JAVA_FLOAT))
                                .containsExactly(30, 50, 70, 90);
                    }
                    gpu.stream.beginCapture();
                    gpu.axpb(gpu.stream, x, y, 3, 0);
                    gpu.axpb(gpu.stream, y, z, 10, 0);
                    gpu.stream.copyToHost(z, 0, pinned.segment());
                    try (CapturedGraph newer = gpu.stream.endCapture()) {
                        assertThat(executable.update(newer)).isTrue();
                    }
                    gpu.stream.launch(executable);
                    gpu.stream.synchronize();
                    assertThat(pinned.segment().toArray(ValueLayout.JAVA_FLOAT)).containsExactly(30, 60, 90, 120);

                    gpu.stream.beginCapture();
                    gpu.axpb(gpu.stream, x, y, 3, 0);
                    try (CapturedGraph other = gpu.stream.endCapture()) {
                        assertThat(executable.update(other)).isFalse();
                    }
                }
            }
        }
    }

    @Test
    void memoryMayBeClosedWhileTheThreadCaptures() {
        try (Gpu gpu = Gpu.open();
                DeviceBuffer x = gpu.upload(1, 2, 3, 4);
                DeviceBuffer y = gpu.context.allocate(16)) {
            DeviceBuffer unrelated = gpu.context.allocate(1 << 20);
            gpu.stream.beginCapture();
            gpu.axpb(gpu.stream, x, y, 2, 1);
            unrelated.close();
            try (CapturedGraph graph = gpu.stream.endCapture()) {
                assertThat(graph.nodes()).isEqualTo(1);
            }
        }
    }

    @Test
    void anEmptyCaptureIsAGraphAndAbortingIsIdempotent() {
        try (Gpu gpu = Gpu.open()) {
            gpu.stream.beginCapture();
            try (CapturedGraph graph = gpu.stream.endCapture()) {
                assertThat(graph.nodes()).isZero();
                try (ExecutableGraph executable = graph.instantiate()) {
                    gpu.stream.launch(executable);
                }
            }
            gpu.stream.abortCapture();
            gpu.stream.beginCapture();
            gpu.stream.abortCapture();
            gpu.stream.abortCapture();
            assertThatThrownBy(gpu.stream::endCapture).isInstanceOf(CaptureException.class);
            gpu.usable();
        }
    }

    private static void replays(Gpu gpu, DeviceBuffer x, DeviceBuffer y) {
        gpu.stream.fill(y, 0, 16, (byte) -1);
        gpu.stream.beginCapture();
        gpu.axpb(gpu.stream, x, y, 2, 1);
        try (CapturedGraph graph = gpu.stream.endCapture();
                ExecutableGraph executable = graph.instantiate()) {
            gpu.stream.launch(executable);
            assertThat(gpu.download(y)).containsExactly(3, 5, 7, 9);
        }
    }
}
