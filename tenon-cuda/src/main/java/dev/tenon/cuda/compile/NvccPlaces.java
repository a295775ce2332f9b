package dev.tenon.cuda.compile;

import java.io.File;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Where the toolkit's compiler may be. */
final class NvccPlaces {
    private NvccPlaces() {}

    static List<Path> candidates() {
        String file = File.separatorChar == '\\' ? "nvcc.exe" : "nvcc";
        List<Path> candidates = new ArrayList<>();
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
            String home = System.getenv(variable);
            if (home != null && !home.isBlank()) {
                add(candidates, home, "bin", file);
            }
        }
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            if (!folder.isBlank()) {
                add(candidates, folder, file);
            }
        }
        candidates.add(Path.of("/usr/local/cuda/bin", file));
        return candidates;
    }

    /** A folder with a name that the locale does not have holds no compiler that could be started. */
    private static void add(List<Path> candidates, String first, String... more) {
        try {
            candidates.add(Path.of(first, more));
        } catch (InvalidPathException _) {
            // nothing to look at
        }
    }
}
