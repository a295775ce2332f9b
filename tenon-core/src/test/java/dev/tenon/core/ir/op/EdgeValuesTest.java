package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Primitive;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** That every primitive says its edge values: in a row of {@code docs/edge-values.md}, or in its Javadoc. */
class EdgeValuesTest {
    private static final Pattern OPERATION = Pattern.compile("`([A-Z]\\w+)`");

    @Test
    void everyPrimitiveSaysThem() throws IOException {
        Set<String> rows = Files.readAllLines(Path.of("..", "docs", "edge-values.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .flatMap(line -> OPERATION.matcher(line.split("\\|")[1]).results())
                .map(result -> result.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> primitives =
                Op.records(Primitive.class).map(Class::getSimpleName).collect(Collectors.toCollection(TreeSet::new));
        assertThat(primitives).as("rows are of primitives").containsAll(rows);
        Set<String> silent = Op.records(Primitive.class)
                .filter(op -> !rows.contains(op.getSimpleName()))
                .filter(op -> !source(op).contains("Edge values:"))
                .map(Class::getSimpleName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(silent)
                .as("neither a row nor \"Edge values:\" in the Javadoc")
                .isEmpty();
    }

    private static String source(Class<?> type) {
        try {
            return Files.readString(Path.of("src/main/java", type.getName().replace('.', '/') + ".java"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
