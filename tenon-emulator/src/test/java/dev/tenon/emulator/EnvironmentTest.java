package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.testkit.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an environment that makes no sense gives: the project's errors, the same ones each time. */
class EnvironmentTest {
    @TempDir
    Path folder;

    @BeforeEach
    void host() {
        Harness.require();
    }

    private Path script(String text) throws Exception {
        Path file = Files.writeString(folder.resolve("cxx"), "#!/bin/sh\n" + text + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    private String child(Map<String, String> more) throws Exception {
        Map<String, String> environment = new java.util.HashMap<>(more);
        environment.put("TENON_KERNEL_CACHE", folder.resolve("cache").toString());
        ChildJvm.Result result = ChildJvm.run(Opening.class, environment);
        assertThat(result.code()).as(result.out()).isZero();
        return result.out();
    }

    /** A child: asks for devices, then opens one twice. */
    static final class Opening {
        public static void main(String[] arguments) {
            EmulatorBackend backend = new EmulatorBackend();
            System.out.println("devices " + backend.devices().size() + " " + backend.unavailable());
            for (int i = 0; i < 2; i++) {
                try {
                    new EmulatorPlatform().driver().open(0).close();
                    System.out.println("opened");
                } catch (TenonException e) {
                    System.out.println(e.getClass().getSimpleName() + " " + e.getMessage());
                }
            }
        }
    }

    @Test
    void aCompilerThatCannotBuildIsTheSameErrorEachTime() throws Exception {
        Path broken = script("case $1 in --version) echo 'broken 1.0';; *) echo 'out of order'; exit 3;; esac");
        String out = child(Map.of("TENON_CXX", broken.toString()));
        assertThat(out.split("NativeException emulator: g\\+\\+ 1.0 cannot build the runtime:\\s+out of order", -1))
                .as(out)
                .hasSize(3);
    }

    @Test
    void aProgramThatMakesNothingIsNoCompiler() throws Exception {
        CxxCompiler nothing = new CxxCompiler(List.of("/bin/true"), "true " + folder, false);
        assertThatThrownBy(() -> new Toolchain(nothing))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("/bin/true")
                .hasMessageContaining("made no runtime");
    }

    @Test
    void failuresAreKept() {
        int[] asked = {0};
        Kept<String> kept = new Kept<>() {
            @Override
            String make() {
                asked[0]++;
                throw new NativeException("no");
            }
        };
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(kept::get).isInstanceOf(NativeException.class).hasMessage("no");
        }
        assertThat(asked[0]).isEqualTo(1);
        Kept<Object> value = new Kept<>() {
            @Override
            Object make() {
                return new Object();
            }
        };
        assertThat(value.get()).isSameAs(value.get());
    }

    @Test
    void errorsAreNotKept() {
        int[] asked = {0};
        Kept<String> kept = new Kept<>() {
            @Override
            String make() {
                if (asked[0]++ == 0) {
                    throw new OutOfMemoryError("planted");
                }
                return "made";
            }
        };
        assertThatThrownBy(kept::get).isInstanceOf(OutOfMemoryError.class);
        assertThat(kept.get()).isEqualTo("made");
    }

    @ParameterizedTest
    @CsvSource({
        "TENON_EMULATOR_DEVICES, 99999999999999, 1 to 64",
        "TENON_EMULATOR_DEVICES, 4294967297, 1 to 64",
        "TENON_EMULATOR_DEVICES, 65, 1 to 64",
        "TENON_EMULATOR_DEVICES, 0, 1 to 64",
        "TENON_EMULATOR_DEVICES, 99999999999999999999, 1 to 64",
        "TENON_EMULATOR_WORKERS, 4294967297, 1 to 64",
        "TENON_EMULATOR_MEMORY, -1, 0 to 9223372036854775807",
        "TENON_EMULATOR_CHECKED, 2, 0 to 1"
    })
    void numbersOutOfBoundsAreNamed(String variable, String value, String bounds) {
        assertThatThrownBy(() -> EmulatorOptions.of(Map.of(variable, value)))
                .isInstanceOf(InputException.class)
                .hasMessageStartingWith(variable + "=" + value + " is not ")
                .hasMessageEndingWith(bounds);
    }

    @Test
    void theBackendSaysWhatIsWrongInsteadOfFailing() throws Exception {
        String out = child(Map.of("TENON_EMULATOR_DEVICES", "99999999999999"));
        assertThat(out.lines().findFirst())
                .hasValueSatisfying(
                        line -> assertThat(line).startsWith("devices 0 TENON_EMULATOR_DEVICES=99999999999999 is not"));
        assertThat(out.lines().skip(1))
                .hasSize(2)
                .allSatisfy(
                        line -> assertThat(line).startsWith("InputException TENON_EMULATOR_DEVICES=99999999999999"));
    }

    @Test
    void aTemporaryFolderThatCannotBeWrittenIsNotTakenForACompilerThatIsMissing() throws Exception {
        String out = child(Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder.resolve("none")));
        assertThat(out)
                .contains("temporary files cannot be written to " + folder.resolve("none"))
                .doesNotContain("found none");
    }
}
