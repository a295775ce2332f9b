package dev.tenon.nativelib;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SwitchesTest {
    private final List<String> warnings = new ArrayList<>();

    @ParameterizedTest
    @CsvSource({"0, true, false", "1, false, true", ", true, true", ", false, false", "' 0 ', true, false"})
    void zeroAndOne(String value, boolean absent, boolean on) {
        assertThat(Switches.on("TENON_THING", value, absent, warnings::add)).isEqualTo(on);
        assertThat(warnings).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"off", "true", "2"})
    void anythingElseIsTold(String value) {
        assertThat(Switches.on("TENON_THING", value, true, warnings::add)).isTrue();
        assertThat(warnings).containsExactly("TENON_THING is \"" + value + "\"; it may be 0 or 1, and counts as 1");
    }

    @Test
    void hiddenNamesThatHideNothing() {
        Switches.checkHidden("", warnings::add);
        Switches.checkHidden("nvrtc, cublasLt,nvcc,Open MPI", warnings::add);
        assertThat(warnings).isEmpty();
        Switches.checkHidden("nvrtc,cudann, blas", warnings::add);
        assertThat(warnings)
                .containsExactly(
                        "TENON_HIDE_LIBRARIES names cudann, blas, which hides nothing; known are libcuda, nvrtc, cublas, cublasLt, cudnn, nccl, nvtx, nvcc, Open MPI");
    }
}
