package dev.tenon.core.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * That arithmetic on sizes goes through {@code SizeMath}, in the sources of every module that meets untrusted ones: its
 * overflow is then an exception of ours that names the operation.
 *
 * <p>What it finds: {@code Math.*Exact}; products with a factor from {@code Shape.size(axis)}, {@code Shape.elements}
 * or the bytes of a type; and casts of such numbers to int. {@code cuda.check} holds test cases of fixed sizes.
 */
class SizeArithmeticTest {
    private static final List<String> MODULES = List.of("core", "formats", "cpu", "cuda", "emulator");

    private static final String CALL =
            "(?:\\.size\\((?:[^()]|\\([^()]*\\))+\\)|\\.elements\\((?:[^()]|\\([^()]*\\))*\\)|[tT]ype(?:\\(\\))?\\.bytes\\(\\)"
                    + "|\\.bytesFor\\((?:[^()]|\\([^()]*\\))*\\))";

    private static final String CHAIN = "(?:\\w+(?:\\([^()]*\\))?\\.)*\\w+(?:\\([^()]*\\))?";

    private static final List<Pattern> REFUSED = List.of(
            Pattern.compile("\\bMath\\.\\w+Exact\\("),
            Pattern.compile(CALL + "\\s*\\*\\s"),
            Pattern.compile("\\s\\*\\s+(?:\\(\\w+\\)\\s*)?" + CHAIN + CALL),
            Pattern.compile("\\(int\\)\\s*" + CHAIN + CALL));

    private static final Pattern NO_CODE =
            Pattern.compile("//[^\\n]*|/\\*.*?\\*/|\"\"\".*?\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*\"", Pattern.DOTALL);

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/operations.md"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no docs/operations.md around the working directory");
        }
        return folder;
    }

    private static List<Path> sources() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(root().resolve("tenon-" + module + "/src/main/java"))) {
                files.filter(file -> file.toString().endsWith(".java"))
                        .filter(file -> !file.endsWith("SizeMath.java"))
                        .filter(file -> !file.toString().contains("/cuda/check/"))
                        .forEach(sources::add);
            }
        }
        return sources;
    }

    /** The source without comments and strings, line for line. */
    private static String code(String source) {
        return NO_CODE.matcher(source).replaceAll(match -> match.group().replaceAll("[^\\n]", " "));
    }

    private static List<String> findings(String name, String source) {
        String code = code(source);
        List<String> found = new ArrayList<>();
        for (Pattern refused : REFUSED) {
            Matcher matcher = refused.matcher(code);
            while (matcher.find()) {
                long line = code.substring(0, matcher.start()).lines().count();
                found.add(name + ":" + line + ": " + matcher.group().strip());
            }
        }
        return found;
    }

    @Test
    void sourcesComputeSizesInOnePlace() throws IOException {
        List<Path> sources = sources();
        assertThat(sources).hasSizeGreaterThan(500);
        List<String> all = sources.stream()
                .flatMap(file -> {
                    try {
                        return findings(file.getFileName().toString(), Files.readString(file)).stream();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                })
                .toList();
        assertThat(all).isEmpty();
    }

    @Test
    void theRuleFindsWhatItNames() {
        for (String bad : List.of(
                "int n = Math.toIntExact(size);",
                "long n = Math.multiplyExact(a, b);",
                "long n = shape.size(0) * rows;",
                "long n = rows * x.shape().size(axis + 1);",
                "long n = groups\n    * shape.elements(2, shape.rank());",
                "long n = count * dtype.bytes();",
                "long n = 2 * type().bytesFor(count);",
                "int n = (int) node.output().shape().elements();")) {
            assertThat(findings("Bad.java", bad)).as(bad).hasSize(1);
        }
        for (String good : List.of(
                "long n = SizeMath.product(\"op\", shape.size(0), rows);",
                "// Math.toIntExact is refused",
                "String s = \"a.size(0) * b\";",
                "long n = list.size() * 2L;",
                "/** {@code x.size(1) * 2} */")) {
            assertThat(findings("Good.java", good)).as(good).isEmpty();
        }
    }
}
