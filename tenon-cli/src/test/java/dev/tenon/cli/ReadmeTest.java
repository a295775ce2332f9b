package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java of README.md and docs/from-code.md compiles: the latter's first block has the imports, every other block is
 * the body of a method that has the objects below.
 */
class ReadmeTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    /** What the blocks take from one another, or from the text around them. */
    private static final String GIVEN = """
            Engine engine;
            dev.tenon.models.embedding.EmbeddingEncoder encoder;
            java.util.List<float[]> index;
            Session session;
            Session next;
            Map<String, Tensor> inputs;
            dev.tenon.cuda.collective.GpuCommunicator rank;
            """;

    private static List<String> blocks() throws IOException {
        List<String> blocks = new ArrayList<>();
        for (Path document : List.of(Path.of("..", "docs", "from-code.md"), Path.of("..", "README.md"))) {
            Matcher matcher = BLOCK.matcher(Files.readString(document));
            while (matcher.find()) {
                blocks.add(matcher.group(1));
            }
        }
        return blocks;
    }

    @Test
    void javaBlocksCompile(@TempDir Path folder) throws IOException {
        List<String> blocks = blocks();
        assertThat(blocks).hasSizeGreaterThan(8);
        StringBuilder source =
                new StringBuilder(blocks.getFirst()).append("class Readme {\n").append(GIVEN);
        for (int i = 1; i < blocks.size(); i++) {
            source.append("void block")
                    .append(i)
                    .append("() throws Exception {\n")
                    .append(blocks.get(i))
                    .append("}\n");
        }
        assertThat(faults(source.append("}\n").toString(), folder)).isEmpty();
    }

    @Test
    void examplesCompile(@TempDir Path folder) throws IOException {
        try (Stream<Path> examples = Files.list(Path.of("..", "docs", "examples"))) {
            List<Path> files = examples.toList();
            assertThat(files).isNotEmpty();
            for (Path file : files) {
                String source = Files.readString(file).replace("public final class", "final class");
                assertThat(faults(source, folder)).as(file.toString()).isEmpty();
            }
        }
    }

    @Test
    void aBlockThatDoesNotCompileIsTold(@TempDir Path folder) throws IOException {
        assertThat(faults("class Readme { dev.tenon.core.runtime.Runtime gone; }", folder))
                .contains("cannot find symbol");
    }

    /** What the compiler says of a class; empty when it compiles. */
    private static String faults(String source, Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("Readme.java"), source);
        String path = Stream.of("java.class.path", "jdk.module.path")
                .map(name -> System.getProperty(name, ""))
                .filter(places -> !places.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int status = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(out, out, "-proc:none", "-classpath", path, "-d", folder.toString(), file.toString());
        return status == 0 ? "" : "javac ended with " + status + "\n" + said;
    }
}
