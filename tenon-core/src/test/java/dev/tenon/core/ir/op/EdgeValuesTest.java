package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Primitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** That {@code docs/edge-values.md} has a row for every primitive, and for nothing else. */
class EdgeValuesTest {
    private static final Pattern OPERATION = Pattern.compile("`([A-Z]\\w+)`");

    @Test
    void everyPrimitiveHasARow() throws IOException {
        Set<String> rows = Files.readAllLines(Path.of("..", "docs", "edge-values.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .flatMap(line -> OPERATION.matcher(line.split("\\|")[1]).results())
                .map(result -> result.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> primitives =
                Op.records(Primitive.class).map(Class::getSimpleName).collect(Collectors.toCollection(TreeSet::new));
        assertThat(rows).isEqualTo(primitives);
    }
}
