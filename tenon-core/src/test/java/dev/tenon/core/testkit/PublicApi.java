package dev.tenon.core.testkit;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Lists the classes of packages, and what of them can be called. */
public final class PublicApi {
    private PublicApi() {}

    /** The public classes, nested ones too, of the package of one of them. */
    public static List<Class<?>> classesBeside(Class<?> one) throws Exception {
        URI place = one.getProtectionDomain().getCodeSource().getLocation().toURI();
        String folder = one.getPackageName().replace('.', '/');
        if (Files.isDirectory(Path.of(place))) {
            return classes(Path.of(place).resolve(folder), one);
        }
        try (FileSystem jar = FileSystems.newFileSystem(Path.of(place), Map.of())) {
            return classes(jar.getPath("/", folder), one);
        }
    }

    private static List<Class<?>> classes(Path folder, Class<?> one) throws IOException, ClassNotFoundException {
        List<Class<?>> classes = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(".class") && !name.equals("package-info.class")) {
                    Class<?> found = Class.forName(
                            one.getPackageName() + "." + name.substring(0, name.length() - ".class".length()),
                            false,
                            one.getClassLoader());
                    if (isPublic(found)) {
                        classes.add(found);
                    }
                }
            }
        }
        classes.sort(Comparator.comparing(Class::getName));
        return classes;
    }

    private static boolean isPublic(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && !type.isAnonymousClass()
                && (type.getDeclaringClass() == null || isPublic(type.getDeclaringClass()));
    }

    /**
     * The public methods and constructors of a class that take arguments; those of records and enums that Java makes
     * aside.
     */
    public static List<Executable> executables(Class<?> type) {
        List<Executable> found = new ArrayList<>();
        if (!Modifier.isAbstract(type.getModifiers())) {
            found.addAll(List.of(type.getConstructors()));
        }
        for (Method method : type.getMethods()) {
            boolean ours = method.getDeclaringClass().getName().startsWith("dev.tenon.")
                    && !method.isSynthetic()
                    && !method.getName().equals("equals")
                    && !(type.isEnum() && method.getName().equals("valueOf"));
            if (ours && (Modifier.isStatic(method.getModifiers()) || !Modifier.isAbstract(type.getModifiers()))) {
                found.add(method);
            }
        }
        found.removeIf(executable -> executable.getParameterCount() == 0);
        found.sort(Comparator.comparing(Executable::toString));
        return found;
    }
}
