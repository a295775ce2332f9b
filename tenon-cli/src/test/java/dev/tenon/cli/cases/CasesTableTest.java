package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/cases.md says which tests a case has: each that passes is named, by its id, in a test or a check of a backend.
 */
final class CasesTableTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern ID = Pattern.compile("\\b[A-Z]{2}-0[0-9]\\b");

    @Test
    void everyCaseThatPassesIsInATestsName() throws IOException {
        TreeSet<String> passing = new TreeSet<>();
        for (String row : Files.readAllLines(ROOT.resolve("docs/cases.md"))) {
            String[] cells = row.split("\\|");
            if (cells.length == 5 && cells[4].strip().equals("pass")) {
                Matcher ids = ID.matcher(cells[1]);
                while (ids.find()) {
                    passing.add(ids.group());
                }
            }
        }
        assertThat(passing).hasSizeGreaterThan(60);
        String sources = sources();
        List<String> missing = new ArrayList<>();
        for (String id : passing) {
            String compact = id.toLowerCase(java.util.Locale.ROOT).replace("-", "");
            if (!Pattern.compile("\"[^\"\\n]*" + id).matcher(sources).find() && !sources.contains("void " + compact)) {
                missing.add(id);
            }
        }
        assertThat(missing).as("cases that no test names").isEmpty();
    }

    private static String sources() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.find(
                ROOT,
                14,
                (file, attributes) -> file.toString().endsWith(".java")
                        && (file.toString().contains("/src/test/")
                                || file.toString().contains("/check/")))) {
            for (Path file : files.toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }
}
