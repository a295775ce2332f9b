package dev.tenon.cuda.compile;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A folder of this process for sources and what compilers of the host make of them, deleted at its end. Thread-safe.
 */
public final class Workshop {
    private static final AtomicLong NEXT = new AtomicLong();
    private static @Nullable Path root;

    private Workshop() {}

    /**
     * A folder that nobody else uses.
     *
     * @param path where it lies
     */
    public record Bench(Path path) implements AutoCloseable {
        @Override
        public void close() {
            delete(path);
        }
    }

    /** A path that nobody else uses. @throws NativeException when the host has no room for temporary files */
    public static Path fresh(String name) {
        return root().resolve(NEXT.incrementAndGet() + "-" + name);
    }

    /**
     * A new folder with these files.
     *
     * @param files texts by name; names may have folders
     * @throws InputException for a name that leads out of the folder
     * @throws NativeException when the folder cannot be written
     */
    public static Bench bench(Map<String, String> files) {
        Bench bench = new Bench(fresh("build"));
        try {
            Files.createDirectories(bench.path());
            for (Map.Entry<String, String> file : files.entrySet()) {
                Path path = bench.path().resolve(file.getKey()).normalize();
                if (!path.startsWith(bench.path()) || path.equals(bench.path())) {
                    throw new InputException("\"" + file.getKey() + "\" is not the name of a source file");
                }
                Files.createDirectories(path.getParent());
                Files.writeString(path, file.getValue());
            }
            return bench;
        } catch (IOException e) {
            bench.close();
            throw new NativeException("files for the compiler cannot be written: " + e, e);
        } catch (RuntimeException | Error e) {
            bench.close();
            throw e;
        }
    }

    /**
     * Deletes a file, or a folder with all that is in it. What cannot be deleted stays: a temporary file too many is no
     * reason to fail.
     */
    public static void delete(Path path) {
        try {
            if (Files.exists(path)) {
                Store.deleteTree(path);
            }
        } catch (IOException _) {
            // said above
        }
    }

    private static synchronized Path root() {
        Path known = root;
        if (known == null) {
            try {
                Path made = ProcessFolder.make(Path.of(System.getProperty("java.io.tmpdir")));
                java.lang.Runtime.getRuntime().addShutdownHook(new Thread(() -> end(made), "tenon-cleanup"));
                root = made;
                known = made;
            } catch (IOException | IllegalStateException e) { // the latter while the process ends
                throw new NativeException(
                        "temporary files cannot be written to " + System.getProperty("java.io.tmpdir") + " (" + e
                                + "); make that possible, or name another folder with -Djava.io.tmpdir",
                        e);
            }
        }
        return known;
    }

    /** Commands first: they write into the folder. */
    private static void end(Path made) {
        HostCommand.stopAll();
        delete(made);
    }
}
