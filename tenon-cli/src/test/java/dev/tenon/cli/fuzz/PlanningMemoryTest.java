package dev.tenon.cli.fuzz;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.TenonException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Files that the fuzzer found. */
final class PlanningMemoryTest {
    private static final Path RESOURCES = Path.of("../tenon-formats/src/test/resources/cases");

    /** x of 5 elements, padded by wrapping to 2^31 - 9 and more: a table of that length was an OutOfMemoryError. */
    @Test
    void padOfTwoThousandMillionElementsIsAnExceptionOfOurs() throws Exception {
        byte[] file = HexFormat.of()
                .parseHex("08093a5b0a1f0a01780a017012017922035061642a0f0a046d6f6465220477726170a001031201672a1908021007"
                        + "4201704a10f0ffff7f00000000ffffffffffffffff5a0f0a0178120a0a08080112040a02080562090a01791204"
                        + "0a02080142040a001013");
        try (OnnxTarget target = new OnnxTarget(List.of(RESOURCES))) {
            assertThatThrownBy(() -> target.use(file)).isInstanceOf(TenonException.class);
        }
    }
}
