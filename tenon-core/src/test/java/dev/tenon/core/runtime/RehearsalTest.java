package dev.tenon.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.options.EngineOptions;
import org.junit.jupiter.api.Test;

class RehearsalTest {
    private static void openAndClose(ReferenceBackend backend) {
        Engine.open(backend, 0, EngineOptions.defaults()).close();
    }

    @Test
    void firstEngineOfABackendRunsASmallModelAndLaterOnesDoNot() {
        ReferenceBackend backend = new ReferenceBackend("reference-rehearsal");
        openAndClose(backend);
        assertThat(backend.calls("compile")).as("a plan for each of two shapes").isEqualTo(2);
        assertThat(backend.calls("run")).isEqualTo(2);
        assertThat(backend.open()).isEmpty();
        openAndClose(backend);
        assertThat(backend.calls("run")).isEqualTo(2);
    }

    @Test
    void everyBackendIsRehearsed() {
        openAndClose(new ReferenceBackend("reference-first"));
        ReferenceBackend second = new ReferenceBackend("reference-second");
        openAndClose(second);
        assertThat(second.calls("run")).isEqualTo(2);
    }

    @Test
    void failedRehearsalClosesTheDeviceAndIsRepeated() {
        ReferenceBackend backend = new ReferenceBackend("reference-failed");
        backend.failOnce("run");
        assertThatThrownBy(() -> openAndClose(backend))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("planted: run");
        assertThat(backend.open()).isEmpty();
        openAndClose(backend);
        assertThat(backend.calls("run")).as("the failed one and two more").isEqualTo(3);
    }

    @Test
    void failedRehearsalThatDoesNotCloseSuppressesTheFurtherFailure() {
        ReferenceBackend backend = new ReferenceBackend("reference-stuck");
        backend.failOnce("run");
        backend.failOnce("close device");
        assertThatThrownBy(() -> openAndClose(backend))
                .hasMessageContaining("planted: run")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("planted: close device"));
    }
}
