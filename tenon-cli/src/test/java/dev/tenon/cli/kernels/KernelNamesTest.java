package dev.tenon.cli.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.check.KernelCases;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.file.KernelSpec;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The names that kernels go by, and the list of them. */
class KernelNamesTest {
    private static final List<String> NAMES =
            List.of(("unary binary fused_binary_unary compare where_select cast copy elementwise_region grouped_matmul"
                            + " dequant_matmul pool1d pool2d pool3d softmax log_softmax layernorm rmsnorm"
                            + " fused_residual_ln fused_residual_rms reduce argmax cumsum topk transpose narrow concat"
                            + " expand gather gather_axis scatter_add_zero scatter_add_acc rope selective_scan sample"
                            + " quantize dequantize")
                    .split(" "));

    static Stream<String> names() {
        return NAMES.stream();
    }

    private static String list(String... options) {
        StringWriter out = new StringWriter();
        CommandLine line = new CommandLine(new KernelsListCommand()).setOut(new PrintWriter(out));
        assertThat(line.execute(options)).isZero();
        return out.toString();
    }

    @Test
    void everyUsualNameIsListed() {
        assertThat(KernelNames.usual()).containsExactlyInAnyOrderElementsOf(NAMES);
        List<String> words = List.of(list().split("\\s+"));
        NAMES.stream()
                .filter(KernelNamesTest::isThere)
                .forEach(name -> assertThat(words).contains(name));
    }

    /** Whether a kernel is there that the name waits for. */
    private static boolean isThere(String name) {
        return !name.equals("grouped_matmul")
                || KernelCatalog.all().stream().anyMatch(file -> file.path().contains(name));
    }

    @ParameterizedTest
    @MethodSource("names")
    void commandsResolveTheName(String name) {
        Assumptions.assumeTrue(isThere(name), () -> name + " has no kernel");
        assertThat(KernelCatalog.all()).anyMatch(file -> KernelNames.means(name, file));
        assertThat(KernelCases.all()).anyMatch(one -> KernelNames.means(name, one));
    }

    @Test
    void everyEntryIsListedInLinesOfAHundredColumns() {
        String text = list();
        assertThat(text.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
        List<String> words = List.of(text.split("\\s+"));
        KernelCatalog.all().stream()
                .flatMap(file -> file.entries().stream())
                .map(KernelSpec::entry)
                .forEach(entry -> assertThat(words).contains(entry));
        assertThat(list("--json").lines()).hasSize((int) KernelCatalog.all().stream()
                .mapToLong(file -> file.entries().size())
                .sum());
    }
}
