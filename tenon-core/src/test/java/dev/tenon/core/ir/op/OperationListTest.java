package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.testkit.OperationClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** That {@code docs/operations.md} has a row for every family and names only operations that there are. */
class OperationListTest {
    private static final String ROOT = "dev.tenon.core.ir.op.";
    private static final Pattern FAMILY = Pattern.compile("(?m)^\\| `(\\w+)` \\|");
    private static final Pattern OPERATION = Pattern.compile("`([A-Z]\\w+)`");

    private static String page() throws IOException {
        return page("operations.md");
    }

    private static String page(String name) throws IOException {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/operations.md"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no docs/operations.md around the working directory");
        }
        return Files.readString(folder.resolve("docs").resolve(name));
    }

    private static Set<String> found(Pattern pattern) throws IOException {
        return pattern.matcher(page())
                .results()
                .map((MatchResult result) -> result.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void everyFamilyHasARow() throws IOException {
        Set<String> families = OperationClasses.all()
                .map(Class::getPackageName)
                .map(name -> name.substring(ROOT.length()))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(found(FAMILY)).isEqualTo(families);
    }

    @Test
    void everyNamedOperationExists() throws IOException {
        Set<String> names =
                OperationClasses.all().map(Class::getSimpleName).collect(Collectors.toCollection(TreeSet::new));
        assertThat(names).containsAll(found(OPERATION));
    }
}
