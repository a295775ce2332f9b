package dev.tenon.cuda.store;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A folder of entries by name, each a file that is written to a temporary one beside it and renamed, so that a reader
 * sees the old entry or the new one. Safe with any number of threads and processes. No fault of the disk is a fault of
 * the caller.
 */
public final class Store {
    /** The variable that names the folder. */
    public static final String VARIABLE = "TENON_KERNEL_CACHE";

    private static final System.Logger LOG = System.getLogger(Store.class.getName());

    /** Folders that cannot be written, each said once a process, however many stores look at it. */
    private static final Set<Path> COMPLAINED = ConcurrentHashMap.newKeySet();

    /** Settings whose value is no path here, each said once a process. */
    private static final Set<String> UNREADABLE = ConcurrentHashMap.newKeySet();

    private final Path folder;
    private final AtomicBoolean swept = new AtomicBoolean();

    public Store(Path folder) {
        this.folder = folder;
    }

    /** {@code $TENON_KERNEL_CACHE}, else {@code $XDG_CACHE_HOME/tenon}, else {@code ~/.cache/tenon}. */
    public static Store standard() {
        return new Store(folder(
                System.getenv(),
                path("user.home", System.getProperty("user.home", "")).orElse(null)));
    }

    /** @param home null where there is none: the temporary folder then stands in for it */
    public static Path folder(Map<String, String> environment, @Nullable Path home) {
        Optional<Path> own = path(VARIABLE, environment.getOrDefault(VARIABLE, ""));
        if (own.isPresent()) {
            return own.get();
        }
        // a relative one is to be ignored, says the XDG base directory specification
        Optional<Path> xdg = path("XDG_CACHE_HOME", environment.getOrDefault("XDG_CACHE_HOME", ""))
                .filter(Path::isAbsolute);
        return xdg.map(folder -> folder.resolve("tenon"))
                .orElseGet(() -> home == null
                        ? Path.of(
                                System.getProperty("java.io.tmpdir"), "tenon-cache-" + System.getProperty("user.name"))
                        : home.resolve(".cache").resolve("tenon"));
    }

    /**
     * A path that a setting names; empty where it names none, or one that this JVM's locale does not have, which is
     * said once.
     */
    private static Optional<Path> path(String setting, String value) {
        if (value.isBlank()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Path.of(value));
        } catch (InvalidPathException e) {
            if (UNREADABLE.add(setting)) {
                warn(setting + " names no path that this JVM can read (its locale's encoding is "
                        + System.getProperty("sun.jnu.encoding") + "), so that it is passed over; set LC_ALL=C.UTF-8");
            }
            return Optional.empty();
        }
    }

    public Path folder() {
        return folder;
    }

    /** Where an entry lies. */
    public Path path(String name) {
        return folder.resolve(name);
    }

    /**
     * Writes an entry in the place of the one of that name.
     *
     * @param kept what is lost when that fails, for the log: {@code compiled kernels}
     * @return whether it is there
     */
    public boolean write(String name, String kept, ByteBuffer... parts) {
        Path path = path(name);
        Path temporary = null;
        try {
            Files.createDirectories(folder);
            if (swept.compareAndSet(false, true)) {
                TemporaryFiles.sweep(folder);
            }
            temporary = folder.resolve(
                    TemporaryFiles.name(name, ThreadLocalRandom.current().nextLong()));
            try (FileChannel channel =
                    FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                for (ByteBuffer part : parts) {
                    while (part.hasRemaining()) {
                        channel.write(part);
                    }
                }
                channel.force(true);
            }
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                deleteTree(path); // no entry of ours is a folder
            }
            Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (IOException | UnsupportedOperationException e) {
            if (COMPLAINED.add(folder)) {
                warn(kept + " cannot be kept in " + folder + " (" + e + "); they are made again next time; " + VARIABLE
                        + " names another folder");
            }
            return false;
        } finally {
            if (temporary != null) {
                try {
                    Files.deleteIfExists(temporary); // moved away unless something failed
                } catch (IOException _) {
                    // the next sweep takes it
                }
            }
        }
    }

    public static void deleteTree(Path root) throws IOException {
        // no visitor of a class of its own: this runs while the JVM ends, when no class can be loaded any more
        if (Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
                for (Path entry : entries) {
                    deleteTree(entry);
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
        }
        Files.deleteIfExists(root);
    }

    private static void warn(String text) {
        LOG.log(Level.WARNING, "kernel cache: " + text);
    }
}
