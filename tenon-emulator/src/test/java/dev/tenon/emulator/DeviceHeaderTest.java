package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.kernel.file.KernelSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The emulator's header offers all that the GPU's does; and the list of resources is the folder. */
class DeviceHeaderTest {
    private static final Pattern FUNCTION = Pattern.compile("__forceinline__ \\w+ (\\w+)\\(");
    private static final Pattern MACRO = Pattern.compile("(?m)^#define (TENON_\\w+)");
    private static final Pattern TYPE =
            Pattern.compile("(?m)^(?:typedef [\\w ]+ (\\w+);|struct alignas\\(2\\) (\\w+))");

    @Test
    void hasEveryNameOfTheGpusHeader() {
        Map<String, String> headers = KernelSources.includedBy(List.of("#include \"tenon.cuh\""));
        assertThat(headers).hasSizeGreaterThan(4);
        String gpu = String.join("\n", headers.values());
        String emulated = String.join("\n", Resources.headers().values());
        Set<String> names = new TreeSet<>();
        for (Pattern pattern : new Pattern[] {FUNCTION, MACRO, TYPE}) {
            pattern.matcher(gpu)
                    .results()
                    .forEach(found -> names.add(found.group(1) != null ? found.group(1) : found.group(2)));
        }
        assertThat(names).hasSizeGreaterThan(25).contains("mma_16816", "TENON_ENTRY", "bf16", "u64");
        assertThat(names.stream()
                        .filter(name -> !Pattern.compile("\\b" + name + "\\b")
                                .matcher(emulated)
                                .find()))
                .as("names that kernels may use and the emulator lacks")
                .isEmpty();
    }

    @Test
    void theListOfResourcesIsTheFolder() throws IOException {
        Path folder = Path.of("src/main/resources/dev/tenon/emulator");
        Assumptions.assumeTrue(Files.isDirectory(folder), "not started from the module's folder");
        try (Stream<Path> files = Files.walk(folder)) {
            Set<String> there = files.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString())
                    .collect(Collectors.toSet());
            assertThat(Resources.runtime().keySet()).isEqualTo(there);
        }
    }
}
