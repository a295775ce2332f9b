package dev.tenon.core.testkit;

import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.Op;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finds the record of every operation: sealed kinds list theirs, composites are looked for among the classes of the
 * module.
 */
public final class OperationClasses {
    private static final String FOLDER = "dev/tenon/core/ir/op";

    private OperationClasses() {}

    public static Stream<Class<?>> all() {
        return Stream.concat(Op.records(), composites().stream());
    }

    /** The composites, wherever the module's classes lie: in a folder or in a jar. */
    public static List<Class<?>> composites() {
        try {
            Path classes = Path.of(
                    Op.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(classes)) {
                return composites(classes);
            }
            try (FileSystem jar = FileSystems.newFileSystem(classes)) {
                return composites(jar.getPath("/"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<Class<?>> composites(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root.resolve(FOLDER))) {
            List<Class<?>> found = files.map(file -> root.relativize(file).toString())
                    .filter(name -> name.endsWith(".class") && !name.contains("$") && !name.contains("-"))
                    .sorted()
                    .<Class<?>>map(OperationClasses::load)
                    .filter(type -> type.isRecord() && Composite.class.isAssignableFrom(type))
                    .toList();
            return List.copyOf(found);
        }
    }

    private static Class<?> load(String file) {
        String name = file.substring(0, file.length() - ".class".length())
                .replace('/', '.')
                .replace('\\', '.');
        try {
            return Class.forName(name, false, OperationClasses.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
