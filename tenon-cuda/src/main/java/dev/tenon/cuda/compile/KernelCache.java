package dev.tenon.cuda.compile;

import dev.tenon.cuda.port.ModuleImage;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A folder of compiled images by key. Entries are written to a temporary file beside them and renamed, and verified on every read. No fault of the disk is a fault of the caller: a damaged entry costs a recompile and one log line, a
 * folder that cannot be written one log line. Safe with any number of threads and processes.
 *
 * <p>Entries are read rather than mapped: a mapped file that somebody truncates ends the process when the driver reads it, and reading a few hundred kilobytes takes less time than hashing them.
 */
public final class KernelCache {
    private static final System.Logger LOG = System.getLogger(KernelCache.class.getName());

    /** Folders that cannot be written, each said once a process, however many caches look at it. */
    private static final Set<Path> COMPLAINED = ConcurrentHashMap.newKeySet();

    /** Settings whose value is no path here, and folders with entries that cannot be read, each said once a process. */
    private static final Set<String> UNREADABLE = ConcurrentHashMap.newKeySet();

    private static final String VARIABLE = "TENON_KERNEL_CACHE";

    private final Path folder;
    private final AtomicBoolean swept = new AtomicBoolean();

    public KernelCache(Path folder) {
        this.folder = folder;
    }

    /** {@code $TENON_KERNEL_CACHE}, else {@code $XDG_CACHE_HOME/tenon}, else {@code ~/.cache/tenon}. */
    public static KernelCache standard() {
        return new KernelCache(folder(
                System.getenv(),
                path("user.home", System.getProperty("user.home", "")).orElse(null)));
    }

    /** @param home null where there is none: the temporary folder then stands in for it */
    static Path folder(Map<String, String> environment, @Nullable Path home) {
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

    /** A path that a setting names; empty where it names none, or one that this JVM's locale does not have, which is said once. */
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

    /** The entry, when it is there and whole. */
    public Optional<ModuleImage> read(String key, String name) {
        Path path = path(key);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            long size = channel.size();
            MemorySegment file = CacheEntry.room(size);
            ByteBuffer buffer = file.asByteBuffer();
            while (buffer.hasRemaining() && channel.read(buffer) >= 0) {}
            ModuleImage image = buffer.hasRemaining() ? null : CacheEntry.parse(file, name, path);
            if (image == null) {
                warn("the entry " + path + " is damaged; " + name + " is compiled anew");
            }
            return Optional.ofNullable(image);
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException | OutOfMemoryError e) {
            if (e instanceof IOException && !Files.exists(path)) {
                return Optional.empty(); // the folder is none: said once, when the entry is to be kept
            }
            if (UNREADABLE.add(folder.toString())) {
                warn("the entry " + path + " cannot be read (" + e + "); it and others like it are compiled anew; "
                        + VARIABLE + " names another folder");
            }
            return Optional.empty();
        }
    }

    /** Keeps an image, if the folder can be written. @return the image with its file; the same image when it could not be kept */
    public ModuleImage write(String key, ModuleImage image) {
        Path path = path(key);
        Path temporary = null;
        try {
            Files.createDirectories(folder);
            if (swept.compareAndSet(false, true)) {
                TemporaryFiles.sweep(folder);
            }
            temporary = folder.resolve(
                    TemporaryFiles.name(key, ThreadLocalRandom.current().nextLong()));
            try (FileChannel channel =
                    FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                fully(channel, image.bytes().asByteBuffer());
                fully(channel, CacheEntry.tail(image));
                channel.force(true);
            }
            if (Files.isDirectory(path, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
                deleteTree(path); // no entry of ours is a folder
            }
            Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
            return new ModuleImage(image.name(), image.format(), image.bytes(), path, image.log());
        } catch (IOException | UnsupportedOperationException e) {
            if (COMPLAINED.add(folder)) {
                warn("compiled kernels cannot be kept in " + folder + " (" + e
                        + "); they are compiled again next time; " + VARIABLE + " names another folder");
            }
            return image;
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

    /** Where an entry lies. */
    Path path(String key) {
        return folder.resolve(key);
    }

    private static void fully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    static void deleteTree(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void warn(String text) {
        LOG.log(Level.WARNING, "kernel cache: " + text);
    }
}
