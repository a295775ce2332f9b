package dev.tenon.core.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * How a module is laid out: its packages from the bottom up, each of which may use itself and those below it. So there
 * are no cycles, and a new package has to be given its place.
 *
 * <p>That a sealed type names its subtypes does not count as use: it cannot do otherwise. Reads {@code target/classes}
 * and {@code src/main/java} of the module whose tests run.
 */
public final class House {
    private static final Path CLASSES = Path.of("target/classes");
    private static final Path SOURCES = Path.of("src/main/java");
    private static final int LARGEST_PACKAGE = 40;

    private final String root;
    private final JavaClasses classes;

    private House(String root) {
        this.root = root;
        // names are all that is asked of classes of other modules
        ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
        classes = new ClassFileImporter().importPath(CLASSES);
    }

    /** The module whose packages begin with that name. */
    public static House of(String root) {
        return new House(root);
    }

    /**
     * That the packages are those, and use one another downwards only.
     *
     * @param bottomUp names relative to the root, {@code ""} for the root itself
     */
    public House dependsDownwards(String... bottomUp) {
        List<String> order = Stream.of(bottomUp)
                .map(name -> name.isEmpty() ? root : root + "." + name)
                .toList();
        TreeSet<String> there = new TreeSet<>();
        TreeSet<String> upwards = new TreeSet<>();
        for (JavaClass one : classes) {
            there.add(one.getPackageName());
            for (Dependency dependency : one.getDirectDependenciesFromSelf()) {
                String target =
                        dependency.getTargetClass().getBaseComponentType().getPackageName();
                if (order.indexOf(target) > order.indexOf(one.getPackageName())) {
                    upwards.add(one.getName() + " → "
                            + dependency.getTargetClass().getBaseComponentType().getName());
                }
            }
        }
        there.remove(""); // module-info
        assertThat(there).as("the packages of " + root).isEqualTo(new TreeSet<>(order));
        assertThat(upwards).as("dependencies on a package further up").isEmpty();
        return this;
    }

    /**
     * That classes use no others than the JDK's, the module's own, JSpecify's annotations and those of the packages
     * that begin with one of the names.
     */
    public House needsOnly(String... packages) {
        TreeSet<String> others = new TreeSet<>();
        for (JavaClass one : classes) {
            for (Dependency dependency : one.getDirectDependenciesFromSelf()) {
                String target =
                        dependency.getTargetClass().getBaseComponentType().getPackageName();
                boolean allowed = target.isEmpty() // primitive types
                        || Stream.concat(
                                        Stream.of("java.", "jdk.incubator.", "jdk.jfr", "org.jspecify.", root),
                                        Stream.of(packages))
                                .anyMatch(target::startsWith);
                if (!allowed) {
                    others.add(one.getName() + " → " + target);
                }
            }
        }
        assertThat(others).as("dependencies of " + root).isEmpty();
        return this;
    }

    /** That no package has more files than a newcomer can look over. */
    public House hasSmallPackages() throws IOException {
        TreeMap<String, Integer> files = new TreeMap<>();
        for (Path file : sources()) {
            files.merge(String.valueOf(file.getParent()), 1, Integer::sum);
        }
        assertThat(files)
                .as("files of each package")
                .allSatisfy((folder, count) -> assertThat(count).as(folder).isLessThanOrEqualTo(LARGEST_PACKAGE));
        return this;
    }

    /** That files, methods and signatures are short: see {@link SourceLimits}. */
    public House hasShortSources(SourceLimits limits) throws IOException {
        return hasShortSources(limits, Map.of());
    }

    /** The same, with limits of their own for the files of some packages, by their names relative to the root. */
    public House hasShortSources(SourceLimits limits, Map<String, SourceLimits> others) throws IOException {
        List<Path> usual = new ArrayList<>(sources());
        for (Map.Entry<String, SourceLimits> other : others.entrySet()) {
            Path folder = SOURCES.resolve((root + "." + other.getKey()).replace('.', '/'));
            List<Path> files = usual.stream()
                    .filter(file -> folder.equals(file.getParent()))
                    .toList();
            assertThat(files).as(folder.toString()).isNotEmpty();
            assertThat(other.getValue().check(files)).as("too long").isEmpty();
            usual.removeAll(files);
        }
        assertThat(limits.check(usual)).as("too long").isEmpty();
        return this;
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }
}
