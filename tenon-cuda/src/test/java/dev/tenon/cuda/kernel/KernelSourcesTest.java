package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KernelSourcesTest {
    @Test
    void sourceGetsTheHeadersThatItIncludesAlone() {
        Map<String, String> headers = StateCatalog.SCALED_GEMV
                .source(StateCatalog.scaled(8, DType.F16))
                .headers();
        assertThat(headers).containsKeys("block_formats.cuh", "types.cuh", "pack.cuh", "walk.cuh");
        assertThat(headers).doesNotContainKeys("recurrent.cuh", "mma_tile.cuh");
    }

    @Test
    void sourceOfAUserGetsAllHeaders() {
        KernelFile file = new KernelFile("own.cu", List.of(), List.of(), "  # include \"walk.cuh\"\n");
        assertThat(file.source(KernelVariant.of(DType.F32)).headers()).isEqualTo(KernelSources.headers());
    }

    @Test
    void includesAreWrittenAtTheBeginningOfALine() {
        KernelSources.headers()
                .forEach((name, text) -> assertThat(text.lines()
                                .filter(line ->
                                        line.contains("include") && line.strip().startsWith("#")))
                        .as(name)
                        .allMatch(line -> line.startsWith("#include \"")));
    }
}
