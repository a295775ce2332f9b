package dev.tenon.nativelib;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The Linker is this module's: other modules' native calls go through its checked forms. The CPU backend, which needs
 * no library, alone links code that it has made itself.
 */
class LinkerGuardTest {
    private static final String OWN_CODE = "/dev/tenon/cpu/machine/ExecutableMemory.java";
    private static final Pattern LINKING = Pattern.compile("\\b(Linker|SymbolLookup)\\b");

    @Test
    void noOtherModuleLinks() throws IOException {
        Path modules = Path.of("..").toAbsolutePath().normalize();
        try (Stream<Path> files = Files.walk(modules, 12)) {
            List<Path> sources = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> file.toString().contains("/src/main/java/"))
                    .filter(file -> !file.toString().contains("/tenon-native/"))
                    .filter(file -> !file.toString().endsWith(OWN_CODE))
                    .toList();
            assertThat(sources).hasSizeGreaterThan(100);
            for (Path source : sources) {
                assertThat(LINKING.matcher(Files.readString(source)).find())
                        .as(modules.relativize(source).toString())
                        .isFalse();
            }
        }
    }
}
