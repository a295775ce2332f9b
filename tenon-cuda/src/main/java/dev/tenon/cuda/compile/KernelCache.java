package dev.tenon.cuda.compile;

import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Compiled images by key, in the {@link Store}; verified on every read. No fault of the disk is a fault of the caller:
 * a damaged entry costs a recompile and one log line, a folder that cannot be written one log line. Safe with any
 * number of threads and processes.
 *
 * <p>Entries are read rather than mapped: a mapped file that somebody truncates ends the process when the driver reads
 * it, and reading a few hundred kilobytes takes less time than hashing them.
 */
public final class KernelCache {
    private static final System.Logger LOG = System.getLogger(KernelCache.class.getName());

    /** Folders with entries that cannot be read, each said once a process. */
    private static final Set<String> UNREADABLE = ConcurrentHashMap.newKeySet();

    private final Store store;

    public KernelCache(Path folder) {
        this(new Store(folder));
    }

    private KernelCache(Store store) {
        this.store = store;
    }

    /** In the folder of {@link Store#standard()}. */
    public static KernelCache standard() {
        return new KernelCache(Store.standard());
    }

    public Path folder() {
        return store.folder();
    }

    /** The entry, when it is there and whole. */
    public Optional<ModuleImage> read(String key, String name) {
        Path path = path(key);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            long size = channel.size();
            MemorySegment file = CacheEntry.room(size);
            ByteBuffer buffer = file.asByteBuffer();
            while (buffer.hasRemaining() && channel.read(buffer) >= 0) {}
            ModuleImage image = buffer.hasRemaining() ? null : CacheEntry.parse(key, file, name, path);
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
            if (UNREADABLE.add(folder().toString())) {
                warn("the entry " + path + " cannot be read (" + e + "); it and others like it are compiled anew; "
                        + Store.VARIABLE + " names another folder");
            }
            return Optional.empty();
        }
    }

    /**
     * Keeps an image, if the folder can be written.
     *
     * @return the image with its file; the same image when it could not be kept
     */
    public ModuleImage write(String key, ModuleImage image) {
        boolean kept = store.write(key, "compiled kernels", image.bytes().asByteBuffer(), CacheEntry.tail(key, image));
        return kept ? new ModuleImage(image.name(), image.format(), image.bytes(), path(key), image.log()) : image;
    }

    /** Where an entry lies. */
    Path path(String key) {
        return store.path(key);
    }

    private static void warn(String text) {
        LOG.log(Level.WARNING, "kernel cache: " + text);
    }
}
