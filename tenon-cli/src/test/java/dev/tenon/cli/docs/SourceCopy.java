package dev.tenon.cli.docs;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A copy of the sources that an example may need to change, in a folder of its own, and their classes. */
final class SourceCopy {
    /** Every module that knows operations or functions one by one, by its name. */
    private static final List<String> MODULES = List.of(
            "tenon-core dev.tenon.core",
            "tenon-cpu dev.tenon.cpu",
            "tenon-cuda dev.tenon.cuda",
            "tenon-emulator dev.tenon.emulator",
            "tenon-cuda-check dev.tenon.cuda.check",
            "tenon-formats dev.tenon.formats");

    /** Tests that say that documents, headers, kernels and cases agree with the sources, and what they use. */
    private static final List<String> TESTS = List.of(
            "tenon-core/src/test/java/dev/tenon/core/testkit",
            "tenon-core/src/test/java/dev/tenon/core/ir/op/OpCoverageTest.java",
            "tenon-core/src/test/java/dev/tenon/core/ir/op/OperationListTest.java",
            "tenon-core/src/test/java/dev/tenon/core/ir/op/elementwise/UnaryAccuracyTest.java",
            "tenon-cuda/src/test/java/dev/tenon/cuda/kernel/CodesTest.java",
            "tenon-cuda/src/test/java/dev/tenon/cuda/kernel/KernelCatalogTest.java");

    private final Path root;

    SourceCopy(Path repository, Path folder) throws IOException {
        root = folder;
        for (String module : MODULES) {
            copy(repository, folder(module) + "/src/main");
        }
        for (String test : TESTS) {
            copy(repository, test);
        }
        copy(repository, "docs");
    }

    private static String folder(String module) {
        return module.substring(0, module.indexOf(' '));
    }

    private static String name(String module) {
        return module.substring(module.indexOf(' ') + 1);
    }

    private void copy(Path repository, String path) throws IOException {
        try (Stream<Path> files = Files.walk(repository.resolve(path))) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                Path to = root.resolve(repository.relativize(file).toString());
                Files.createDirectories(to.getParent());
                Files.copy(file, to);
            }
        }
    }

    /**
     * Writes a block into the copy.
     *
     * @throws AssertionError where the anchor is not in exactly one line, or a new file is there already
     */
    void apply(WorkedExample.Edit edit) throws IOException {
        Path file = root.resolve(edit.file());
        if (edit.place() == WorkedExample.Place.NEW_FILE) {
            if (Files.exists(file)) {
                throw new AssertionError(edit.file() + " is there already; expected a new file");
            }
            Files.createDirectories(file.getParent());
            Files.writeString(file, edit.text());
            return;
        }
        List<String> lines = new ArrayList<>(Files.readAllLines(file));
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(edit.anchor())) {
                found.add(i);
            }
        }
        if (found.size() != 1) {
            throw new AssertionError(
                    edit.file() + " has " + found.size() + " lines with \"" + edit.anchor() + "\"; expected one");
        }
        int at = found.getFirst() + (edit.place() == WorkedExample.Place.AFTER ? 1 : 0);
        lines.addAll(at, edit.text().lines().toList());
        Files.write(file, lines);
    }

    /** Compiles the modules, and the tests against them. @throws AssertionError with what the compiler says */
    void compile() throws IOException {
        List<String> options = new ArrayList<>(List.of("-d", classes().toString(), "-proc:none", "-nowarn"));
        for (String module : MODULES) {
            options.addAll(List.of(
                    "--module-source-path",
                    name(module) + "=" + root.resolve(folder(module)).resolve("src/main/java")));
        }
        List<String> others = entries().stream()
                .filter(entry -> entry.contains("jspecify")
                        || entry.contains("tenon-native")
                        || entry.contains("tenon-collective"))
                .toList();
        options.addAll(List.of("--module-path", String.join(File.pathSeparator, others)));
        options.addAll(
                List.of("--module", MODULES.stream().map(SourceCopy::name).collect(Collectors.joining(","))));
        javac(options, List.of());
        List<Path> tests = new ArrayList<>();
        for (String test : TESTS) {
            try (Stream<Path> files = Files.walk(root.resolve(test))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(tests::add);
            }
        }
        javac(List.of("-d", testClasses().toString(), "-proc:none", "-nowarn", "-cp", classPath()), tests);
    }

    private static void javac(List<String> options, List<Path> files) {
        List<String> arguments = new ArrayList<>(options);
        files.forEach(file -> arguments.add(file.toString()));
        StringWriter said = new StringWriter();
        PrintWriter to = new PrintWriter(said);
        ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
        if (compiler.run(to, to, arguments.toArray(String[]::new)) != 0) {
            throw new AssertionError("the copy does not compile; the document has to name one more edit:\n" + said);
        }
    }

    /** Returns the class path of the copy: its classes and resources before those of this test. */
    String classPath() {
        List<String> all = new ArrayList<>(List.of(testClasses().toString()));
        for (String module : MODULES) {
            all.add(classes().resolve(name(module)).toString());
            all.add(root.resolve(folder(module)).resolve("src/main/resources").toString());
        }
        all.addAll(entries());
        return String.join(File.pathSeparator, all);
    }

    /** Returns the folder of a module in the copy. */
    Path folderOf(String module) {
        return root.resolve(module);
    }

    private Path classes() {
        return root.resolve("classes");
    }

    private Path testClasses() {
        return root.resolve("test-classes");
    }

    private static List<String> entries() {
        return List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1));
    }
}
