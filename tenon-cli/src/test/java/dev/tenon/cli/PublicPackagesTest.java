package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The list of public packages in ARCHITECTURE.md against the exports of all modules. */
class PublicPackagesTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern EXPORT = Pattern.compile("exports ([\\w.]+)\\s*(;|to\\b)");
    private static final Pattern LISTED = Pattern.compile("`(dev\\.tenon\\.[\\w.]+?)(\\.\\*)?`");

    private static List<MatchResult> exports() throws IOException {
        List<MatchResult> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.sorted().toList()) {
                Path file = module.resolve("src/main/java/module-info.java");
                if (Files.exists(file)) {
                    found.addAll(
                            EXPORT.matcher(Files.readString(file)).results().toList());
                }
            }
        }
        return found;
    }

    /** Names of the list's first column; one that ends in {@code .*} stands for the packages below it. */
    private static List<MatchResult> listed() throws IOException {
        String text = Files.readString(ROOT.resolve("ARCHITECTURE.md"));
        String section = text.substring(text.indexOf("Public packages\n"));
        return section.lines()
                .filter(line -> line.startsWith("| `"))
                .flatMap(line -> LISTED.matcher(line.split("\\|")[1]).results())
                .toList();
    }

    private static boolean covers(MatchResult name, String exported) {
        return name.group(2) == null ? exported.equals(name.group(1)) : exported.startsWith(name.group(1) + ".");
    }

    @Test
    void listedPackagesAreThoseExportedToEveryModule() throws IOException {
        List<MatchResult> listed = listed();
        TreeSet<String> missing = new TreeSet<>();
        List<MatchResult> unused = new ArrayList<>(listed);
        int open = 0;
        for (MatchResult export : exports()) {
            if (export.group(2).equals(";")) {
                open++;
                if (listed.stream().noneMatch(name -> covers(name, export.group(1)))) {
                    missing.add(export.group(1));
                }
                unused.removeIf(name -> covers(name, export.group(1)));
            }
        }
        assertThat(open).as("exports that were read").isGreaterThan(20);
        assertThat(missing)
                .as("exported to every module, but not on the list in ARCHITECTURE.md")
                .isEmpty();
        assertThat(unused.stream().map(MatchResult::group))
                .as("on the list in ARCHITECTURE.md, but not exported to every module")
                .isEmpty();
    }
}
