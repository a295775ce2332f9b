package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Primitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** That {@code docs/operations.md} lists the operations there are, each once and in the column of its kind. */
class OperationListTest {
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");

    private static List<String> lines() throws IOException {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/operations.md"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no docs/operations.md around the working directory");
        }
        return Files.readAllLines(folder.resolve("docs/operations.md"));
    }

    /** The names in a column of the first table. */
    private static List<String> listed(int column) throws IOException {
        List<String> names = new ArrayList<>();
        boolean inside = false;
        for (String line : lines()) {
            if (inside && !line.startsWith("|")) {
                break;
            }
            inside |= line.startsWith("| ---");
            if (inside) {
                NAME.matcher(line.split("\\|", -1)[column + 1]).results().forEach(match -> names.add(match.group(1)));
            }
        }
        return names;
    }

    private static List<String> permitted(Class<?>... kinds) {
        return Op.records(kinds).map(Class::getSimpleName).toList();
    }

    @Test
    void everyOperationIsListedOnceUnderItsKind() throws IOException {
        assertThat(listed(1)).containsExactlyInAnyOrderElementsOf(permitted(Primitive.class));
        assertThat(listed(2)).containsExactlyInAnyOrderElementsOf(permitted(Composite.class));
        assertThat(listed(3)).containsExactlyInAnyOrderElementsOf(permitted(Deferred.class, Control.class));
    }
}
