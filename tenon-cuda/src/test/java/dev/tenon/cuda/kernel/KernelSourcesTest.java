package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class KernelSourcesTest {
    private static final Pattern STRUCT =
            Pattern.compile("(?ms)^struct (?:alignas\\((\\d+)\\) )?(\\w+)[^;{]*\\{(.*?)^\\};");
    private static final Pattern ALIGNED = Pattern.compile("alignas\\((\\d+)\\)");
    private static final Pattern DECLARED = Pattern.compile("alignas\\((\\d+)\\) (\\w+) ");

    /** Declarations that align a struct less than it asks for itself or by a member, of all sources together. */
    private static List<String> underaligned(List<String> sources) {
        Map<String, Integer> asked = new HashMap<>();
        for (String source : sources) {
            STRUCT.matcher(source)
                    .results()
                    .forEach(struct -> ALIGNED.matcher("alignas(" + Objects.requireNonNullElse(struct.group(1), "1")
                                    + ")" + struct.group(3))
                            .results()
                            .forEach(one -> asked.merge(struct.group(2), Integer.valueOf(one.group(1)), Math::max)));
        }
        return sources.stream()
                .flatMap(source -> DECLARED.matcher(source).results())
                .filter(one -> Integer.parseInt(one.group(1)) < asked.getOrDefault(one.group(2), 1))
                .map(MatchResult::group)
                .toList();
    }

    /** NVRTC refuses them; nvcc, by which kernels are compiled ahead and in tests, does not. */
    @Test
    void noStructIsAlignedLessThanItsMembers() {
        List<String> sources = new ArrayList<>(KernelSources.headers().values());
        for (KernelFile file : KernelCatalog.all()) {
            sources.add(file.source(file.variants().getFirst()).text());
        }
        assertThat(underaligned(sources)).isEmpty();
        assertThat(underaligned(List.of(
                        """
                        struct Shared {
                            float sums[4];
                            alignas(128) u8 room[256];
                        };
                        struct alignas(16) Pair {
                            float2 at;
                        };
                        """, "__shared__ alignas(16) Shared shared; alignas(128) Shared right; alignas(8) Pair pair;")))
                .containsExactly("alignas(16) Shared ", "alignas(8) Pair ");
    }

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

    @Test
    void headersOfTheDeviceAloneTouchTheHardware() {
        Map<String, String> texts = new TreeMap<>(KernelSources.headers());
        for (KernelFile file : KernelCatalog.all()) {
            texts.put(file.path(), file.source(file.variants().getFirst()).text());
        }
        assertThat(texts.keySet().stream().filter(name -> texts.get(name).contains("asm")))
                .containsExactly(
                        "copy_engine.cuh",
                        "device_meeting.cuh",
                        "device_memory.cuh",
                        "device_mma.cuh",
                        "device_numbers.cuh",
                        "wgmma.cuh");
    }
}
