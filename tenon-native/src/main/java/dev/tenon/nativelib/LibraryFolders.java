package dev.tenon.nativelib;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The folders where toolkits, Python packages and distributions put CUDA's libraries, in the order of the search. */
final class LibraryFolders {
    private final Machine machine;
    private final Set<Path> folders = new LinkedHashSet<>();

    private LibraryFolders(Machine machine) {
        this.machine = machine;
    }

    /** Folders that were named by the user, which go before the loader's own path. */
    static List<Path> named(Machine machine) {
        return new LibraryFolders(machine).paths("TENON_LIBRARY_PATH").folders();
    }

    /** Folders to look into after the loader's own path. Only those that exist. */
    static List<Path> usual(Machine machine) {
        LibraryFolders places = new LibraryFolders(machine);
        switch (machine.system()) {
            case LINUX -> places.linux();
            case WINDOWS -> places.windows();
            case OTHER -> {}
        }
        return places.folders();
    }

    /**
     * The files that the loader meets under this name, in its order: in the folders that the environment names, and in
     * those that its cache knows.
     */
    static List<Path> onLoaderPath(Machine machine, String file) {
        boolean windows = machine.system() == Machine.Os.WINDOWS;
        LibraryFolders places = new LibraryFolders(machine).paths(windows ? "PATH" : "LD_LIBRARY_PATH");
        if (!windows) {
            places.cached(file);
        }
        return places.files(file);
    }

    /** The files that it meets last: in the folders that it knows by itself. They are among the {@link #usual} ones. */
    static List<Path> byDefault(Machine machine, String file) {
        LibraryFolders places = new LibraryFolders(machine);
        for (String folder : List.of(
                "lib/" + machine.multiarch(),
                "usr/lib/" + machine.multiarch(),
                "lib64",
                "usr/lib64",
                "lib",
                "usr/lib")) {
            places.folders.add(places.root(folder));
        }
        return places.files(file);
    }

    private List<Path> files(String name) {
        return folders().stream()
                .map(folder -> folder.resolve(name))
                .filter(Files::exists)
                .toList();
    }

    /** The folders in which the loader's cache knows the file: its paths stand there as text, each ended by a zero. */
    private void cached(String file) {
        try {
            String cache = Files.readString(root("etc/ld.so.cache"), StandardCharsets.ISO_8859_1);
            String ending = "/" + file + "\0";
            for (int at = cache.indexOf(ending); at >= 0; at = cache.indexOf(ending, at + 1)) {
                folders.add(path(cache.substring(cache.lastIndexOf('\0', at) + 1, at + 1)));
            }
        } catch (IOException _) {
            // a system without one, or without any library
        }
    }

    private List<Path> folders() {
        return folders.stream().filter(Files::isDirectory).toList();
    }

    private void linux() {
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")) {
            if (!machine.variable(variable).isEmpty()) {
                toolkit(path(machine.variable(variable)));
            }
        }
        toolkit(root("usr/local/cuda"));
        matching(root("usr/local"), "cuda-*").forEach(this::toolkit);
        matching(root("opt"), "cuda*").forEach(this::toolkit);
        paths("PYTHONPATH").folders().forEach(this::packages);
        pythons();
        for (String folder : List.of(
                "usr/lib/" + machine.multiarch(),
                "lib/" + machine.multiarch(),
                "usr/lib64",
                "usr/lib",
                "usr/local/lib",
                "usr/local/nvidia/lib64",
                "usr/local/nvidia/lib",
                "usr/lib/wsl/lib")) {
            folders.add(root(folder));
        }
    }

    private void windows() {
        if (!machine.variable("CUDA_PATH").isEmpty()) {
            Path toolkit = path(machine.variable("CUDA_PATH"));
            folders.add(toolkit.resolve("bin"));
            folders.add(toolkit.resolve("bin").resolve("x64"));
        }
        if (!machine.variable("SystemRoot").isEmpty()) {
            folders.add(path(machine.variable("SystemRoot")).resolve("System32"));
        }
        for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            if (!machine.variable(variable).isEmpty()) {
                packages(path(machine.variable(variable)).resolve("Lib").resolve("site-packages"));
            }
        }
        paths("PATH");
    }

    private void toolkit(Path home) {
        String target = machine.x86() ? "x86_64-linux" : "sbsa-linux";
        folders.add(home.resolve("lib64"));
        folders.add(home.resolve("targets").resolve(target).resolve("lib"));
        folders.add(home.resolve("lib"));
    }

    private void pythons() {
        List<Path> prefixes = new ArrayList<>();
        for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            if (!machine.variable(variable).isEmpty()) {
                prefixes.add(path(machine.variable(variable)));
            }
        }
        for (Path folder : new LibraryFolders(machine).paths("PATH").folders()) {
            if (folder.getParent() != null && Files.exists(folder.resolve("python3"))) {
                prefixes.add(folder.getParent());
            }
        }
        prefixes.add(machine.home().resolve(".local"));
        prefixes.add(root("usr/local"));
        prefixes.add(root("usr"));
        for (Path prefix : prefixes) {
            Path lib = prefix.resolve("lib");
            if (prefix.toString().equals(machine.variable("CONDA_PREFIX"))) {
                folders.add(lib);
            }
            for (Path python : matching(lib, "python3*")) {
                packages(python.resolve("site-packages"));
                packages(python.resolve("dist-packages"));
            }
        }
    }

    /** The folders of NVIDIA's Python packages: {@code nvidia/cublas/lib}, {@code nvidia/cu13/lib}. */
    private void packages(Path site) {
        for (Path one : matching(site.resolve("nvidia"), "*")) {
            folders.add(one.resolve(machine.system() == Machine.Os.WINDOWS ? "bin" : "lib"));
        }
    }

    private LibraryFolders paths(String variable) {
        String separator = machine.system() == Machine.Os.WINDOWS ? ";" : ":";
        for (String one : machine.variable(variable).split(separator)) {
            if (!one.isBlank()) {
                folders.add(path(one.strip()));
            }
        }
        return this;
    }

    private Path root(String folder) {
        return machine.root().resolve(folder);
    }

    private Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException _) {
            return machine.root().resolve("no-such-folder");
        }
    }

    /** The newest first where the names carry versions. */
    static List<Path> matching(Path folder, String glob) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
            entries.forEach(found::add);
        } catch (IOException | java.nio.file.DirectoryIteratorException _) {
            return List.of(); // a folder that cannot be read holds nothing for us
        }
        found.sort(Comparator.comparing((Path path) -> path.getFileName().toString())
                .reversed());
        return found;
    }
}
