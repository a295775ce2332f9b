package dev.tenon.emulator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** A folder of this process for sources and objects, deleted at its end. Thread-safe. */
final class Workshop {
    private static final class Folder {
        static final Path PATH = create();

        private static Path create() {
            try {
                Path path = Files.createTempDirectory("tenon-emulator-");
                Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(path), "tenon-emulator-cleanup"));
                return path;
            } catch (IOException e) {
                throw new UncheckedIOException("the emulator needs a folder for temporary files", e);
            }
        }
    }

    private static final AtomicLong NEXT = new AtomicLong();

    private Workshop() {}

    /** A path that nobody else uses. */
    static Path fresh(String name) {
        return Folder.PATH.resolve(NEXT.incrementAndGet() + "-" + name);
    }

    /** A new folder with these files; their names may have folders. */
    static Path folder(Map<String, String> files) {
        Path folder = fresh("build");
        try {
            Files.createDirectories(folder);
            for (Map.Entry<String, String> file : files.entrySet()) {
                Path path = folder.resolve(file.getKey()).normalize();
                if (!path.startsWith(folder)) {
                    throw new IllegalArgumentException(
                            "the name of a source leads out of its folder: " + file.getKey());
                }
                Files.createDirectories(path.getParent());
                Files.writeString(path, file.getValue());
            }
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException("emulator: " + folder + " cannot be written", e);
        }
    }

    /** Deletes a file, or a folder with all that is in it. What cannot be deleted stays. */
    static void delete(Path path) {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException | UncheckedIOException _) {
            // a temporary file too many is no reason to fail
        }
    }
}
