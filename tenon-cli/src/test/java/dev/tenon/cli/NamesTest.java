package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One name means one thing in the whole house: parallel parts of two backends are told apart by theirs. */
class NamesTest {
    private static final Set<String> OF_EVERY_PACKAGE = Set.of("package-info.java", "module-info.java");

    @Test
    void noTwoSourcesHaveOneName() throws IOException {
        TreeMap<String, TreeSet<String>> places = new TreeMap<>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path module : modules.filter(Files::isDirectory).toList()) {
                collect(module.resolve("src/main/java"), places);
            }
        }
        assertThat(places).hasSizeGreaterThan(500);
        places.values().removeIf(folders -> folders.size() == 1);
        assertThat(places).isEmpty();
    }

    private static void collect(Path sources, TreeMap<String, TreeSet<String>> places) throws IOException {
        if (!Files.isDirectory(sources)) {
            return;
        }
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = String.valueOf(file.getFileName());
                if (!OF_EVERY_PACKAGE.contains(name)) {
                    places.computeIfAbsent(name, _ -> new TreeSet<>()).add(String.valueOf(file.getParent()));
                }
            }
        }
    }
}
