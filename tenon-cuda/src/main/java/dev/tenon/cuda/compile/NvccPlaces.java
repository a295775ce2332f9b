package dev.tenon.cuda.compile;

import java.io.File;
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
                candidates.add(Path.of(home, "bin", file));
            }
        }
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            if (!folder.isBlank()) {
                candidates.add(Path.of(folder, file));
            }
        }
        candidates.add(Path.of("/usr/local/cuda/bin", file));
        return candidates;
    }
}
