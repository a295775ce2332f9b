package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.kernel.file.ParameterType;
import dev.tenon.cuda.port.Architecture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The catalog and the sources say the same. */
class KernelCatalogTest {
    private static final Path ROOT = Path.of("src/main/resources/dev/tenon/cuda/kernels");
    private static final Pattern SIGNATURE = Pattern.compile("TENON_NAME\\((\\w+)\\)\\(([^)]*)\\)");
    private static final Pattern ENTRY = Pattern.compile("TENON_ENTRY\\((\\w+)\\)");
    private static final Pattern USE = Pattern.compile("^(?:KERNEL|WARP|BLOCK)\\((\\w+),", Pattern.MULTILINE);

    @Test
    void everyEntryHasItsSignature() throws IOException {
        for (KernelFile file : KernelCatalog.all()) {
            Map<String, List<ParameterType>> found = signatures(Files.readString(ROOT.resolve(file.path())));
            Map<String, List<ParameterType>> stated = new TreeMap<>();
            file.entries().forEach(spec -> stated.put(spec.entry(), spec.parameters()));
            assertThat(found).as(file.path()).isEqualTo(stated);
        }
    }

    @Test
    void noSourceIsForgotten() throws IOException {
        Set<String> listed = new HashSet<>();
        KernelCatalog.all().forEach(file -> listed.add(file.path()));
        assertThat(relative(".cu")).isEqualTo(listed);
        assertThat(relative(".cuh").stream().map(path -> path.substring(path.lastIndexOf('/') + 1)))
                .containsExactlyInAnyOrderElementsOf(KernelSources.headers().keySet());
    }

    @Test
    void namesAreUnique() {
        List<String> names = new ArrayList<>();
        for (KernelFile file : KernelCatalog.all()) {
            file.variants().forEach(variant -> file.entries().forEach(spec -> names.add(spec.nameIn(variant))));
        }
        assertThat(names).doesNotHaveDuplicates();
    }

    private static Set<String> relative(String ending) throws IOException {
        try (Stream<Path> paths = Files.walk(ROOT)) {
            Set<String> found = new HashSet<>();
            paths.filter(path -> path.toString().endsWith(ending))
                    .forEach(path -> found.add(ROOT.relativize(path).toString().replace('\\', '/')));
            return found;
        }
    }

    /** The entries of a file, those that a KERNEL macro makes among them. */
    private static Map<String, List<ParameterType>> signatures(String text) {
        Map<String, List<ParameterType>> found = new TreeMap<>();
        Matcher matcher = SIGNATURE.matcher(text.replace("\\\n", " "));
        Set<String> announced = new HashSet<>();
        ENTRY.matcher(text).results().forEach(result -> announced.add(result.group(1)));
        while (matcher.find()) {
            List<ParameterType> parameters = new ArrayList<>();
            for (String parameter : matcher.group(2).split(",")) {
                parameters.add(type(parameter.strip()));
            }
            assertThat(announced).contains(matcher.group(1));
            if (matcher.group(1).equals("name")) {
                USE.matcher(text).results().forEach(use -> found.put(use.group(1), parameters));
            } else {
                found.put(matcher.group(1), parameters);
            }
        }
        return found;
    }

    private static ParameterType type(String parameter) {
        if (parameter.contains("*")) {
            return ParameterType.POINTER;
        }
        return switch (parameter.substring(0, parameter.indexOf(' '))) {
            case "i32" -> ParameterType.I32;
            case "i64" -> ParameterType.I64;
            case "float" -> ParameterType.F32;
            case "Walk1", "Walk2", "Walk3", "Walk8", "Options", "Program", "Operands", "Layout", "TensorMap" ->
                ParameterType.STRUCT;
            case "PoolWindows",
                    "PoolLastSizes",
                    "ConvSpace",
                    "ConvSizes",
                    "DepthwiseSizes",
                    "DepthwiseLastSizes",
                    "DepthwiseStripSizes",
                    "FewChannelsSizes",
                    "ConvTile",
                    "ConvWindows",
                    "DftSpace",
                    "DeformSpace",
                    "RoiSpace",
                    "SampleSpace",
                    "PoolOptions",
                    "ResizeAxes",
                    "ResizeWalk",
                    "Recurrence",
                    "Phases",
                    "Encoder" -> ParameterType.STRUCT;
            case "A" -> ParameterType.COMPUTE;
            default -> throw new AssertionError("the catalog knows no parameter like \"" + parameter + "\"");
        };
    }

    @Test
    void codeOfItsOwnBeginsWhereItIsSaid() {
        List<String> texts = new ArrayList<>(KernelSources.headers().values());
        KernelCatalog.all().forEach(file -> texts.add(KernelSources.text(file.path())));
        Set<Integer> found = new TreeSet<>();
        for (String text : texts) {
            Pattern.compile("__CUDA_ARCH__\\W+(\\d+)")
                    .matcher(text)
                    .results()
                    .forEach(step -> found.add(Integer.parseInt(step.group(1)) / 10));
        }
        assertThat(found)
                .containsExactlyElementsOf(
                        KernelSources.STEPS.stream().map(Architecture::number).toList());
    }
}
