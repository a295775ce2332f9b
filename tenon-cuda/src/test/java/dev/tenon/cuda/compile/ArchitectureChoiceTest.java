package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.ModuleImage;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What is compiled for a device that the compiler knows, does not know yet, or does not know any more (case PC-03 b,
 * c).
 */
class ArchitectureChoiceTest {
    private static final List<Architecture> KNOWN = List.of("75", "80", "86", "89", "90").stream()
            .map(Architecture::parse)
            .toList();

    private static String of(String device) {
        CodeTarget target = CodeTarget.of("NVRTC 12.4", KNOWN, Architecture.parse(device));
        return target.format() + " " + target.flag();
    }

    @Test
    void knownDevicesGetMachineCode() {
        assertThat(of("sm_80")).isEqualTo("CUBIN sm_80");
        assertThat(of("sm_90a")).isEqualTo("CUBIN sm_90a");
    }

    @Test
    void newerDevicesGetPtxOfTheNewestBelow() {
        assertThat(of("sm_120")).isEqualTo("PTX compute_90");
        assertThat(of("sm_87")).isEqualTo("PTX compute_86");
        assertThat(CodeTarget.of("x", KNOWN, Architecture.parse("100")).format())
                .isEqualTo(ModuleImage.Format.PTX);
    }

    @Test
    void olderDevicesAndUnknownSpecificFormsAreErrors() {
        assertThatThrownBy(() -> of("sm_61"))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("sm_61")
                .hasMessageContaining("too old for NVRTC 12.4");
        assertThatThrownBy(() -> CodeTarget.of("NVRTC 11.7", KNOWN.subList(0, 4), Architecture.parse("sm_90")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("sm_90")
                .hasMessageContaining("too new for NVRTC 11.7");
        assertThatThrownBy(() -> of("sm_100a"))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("sm_100a");
    }
}
