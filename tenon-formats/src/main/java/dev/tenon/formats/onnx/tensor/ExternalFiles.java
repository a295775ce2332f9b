package dev.tenon.formats.onnx.tensor;

import dev.tenon.core.error.ImportException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files beside a model that hold its larger tensors. A location is a relative path that stays in the model's
 * folder, symbolic links followed: a model must not be able to read the rest of the machine.
 *
 * <p>Each file is mapped once and unmapped when no tensor uses it any more. Not thread-safe.
 */
public final class ExternalFiles {
    private final Set<Path> roots;
    private final Map<Path, MemorySegment> mapped = new HashMap<>();

    private ExternalFiles(Set<Path> roots) {
        this.roots = roots;
    }

    /** For a model that came as bytes: it has no folder, so it has no external data. */
    public static ExternalFiles none() {
        return new ExternalFiles(Set.of());
    }

    /**
     * For a model file. Both the folder it was named in and the one it really lies in count as its own: caches of
     * downloaded models link every file from a folder of names to a folder of contents.
     */
    public static ExternalFiles beside(Path model) throws IOException {
        Set<Path> roots = new LinkedHashSet<>();
        addParent(roots, model.toAbsolutePath().getParent());
        addParent(roots, model.toRealPath().getParent());
        return new ExternalFiles(roots);
    }

    private static void addParent(Set<Path> roots, @Nullable Path folder) throws IOException {
        if (folder != null) {
            roots.add(folder.toRealPath());
        }
    }

    /**
     * The bytes of a tensor.
     *
     * @param entries the tensor's external_data: location, offset, length
     * @throws ImportException naming the tensor and the location
     */
    MemorySegment read(String label, Map<String, String> entries, long bytes) {
        String location = entries.getOrDefault("location", "");
        String what = label + " in external file \"" + location + "\"";
        long offset = number(what, "offset", entries.get("offset"), 0);
        long length = number(what, "length", entries.get("length"), bytes);
        if (length != bytes) {
            throw new ImportException(what + " has length " + length + "; its type asks for " + bytes + " bytes");
        }
        MemorySegment file = map(what, location);
        if (offset > file.byteSize() || length > file.byteSize() - offset) {
            throw new ImportException(
                    what + " wants " + length + " bytes from offset " + offset + "; the file has " + file.byteSize());
        }
        return file.asSlice(offset, length);
    }

    private static long number(String what, String key, @Nullable String text, long absent) {
        if (text == null || text.isEmpty()) {
            return absent;
        }
        try {
            long value = Long.parseLong(text.strip());
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new ImportException(what + " has the " + key + " \"" + text + "\"", e);
        }
        throw new ImportException(what + " has a negative " + key + ": " + text);
    }

    private MemorySegment map(String what, String location) {
        try {
            Path real = resolve(what, location);
            MemorySegment known = mapped.get(real);
            if (known != null) {
                return known;
            }
            try (FileChannel channel = FileChannel.open(real, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
                MemorySegment file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
                mapped.put(real, file);
                return file;
            }
        } catch (IOException e) {
            throw ImportException.unreadable(what, e);
        } catch (InvalidPathException e) {
            throw new ImportException(what + ": that is no path", e);
        }
    }

    private Path resolve(String what, String location) throws IOException {
        if (roots.isEmpty()) {
            throw new ImportException(what + ": a model that is not a file has no folder to read from");
        }
        if (location.isEmpty()) {
            throw new ImportException(what + ": the location is empty");
        }
        Path relative = Path.of(location);
        if (relative.isAbsolute() || location.startsWith("/") || location.startsWith("\\")) {
            throw new ImportException(what + ": the location is absolute; it must stay in the model's folder");
        }
        for (Path part : relative) {
            if (part.toString().equals("..")) {
                throw new ImportException(what + ": the location leaves its folder (\"..\")");
            }
        }
        Path real = roots.iterator().next().resolve(relative).toRealPath();
        if (roots.stream().noneMatch(real::startsWith)) {
            throw new ImportException(what + ": the location is a link that leaves the model's folder");
        }
        if (!Files.isRegularFile(real, LinkOption.NOFOLLOW_LINKS)) {
            throw new ImportException(what + ": that is not a file");
        }
        return real;
    }
}
