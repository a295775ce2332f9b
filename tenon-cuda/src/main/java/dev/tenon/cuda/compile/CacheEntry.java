package dev.tenon.cuda.compile;

import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.ModuleImage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A file of the cache: the image as it is, so that a shared object can be opened in place, then the compiler's log,
 * then a trailer of fixed size: SHA-256 of key, format, image and log, the lengths of the last two, the format, and a
 * magic number at the very end. Code and what describes it lie in one file, so they cannot come from two writers; a
 * file under another entry's name is no entry.
 */
final class CacheEntry {
    private static final long MAGIC = 0x544e4e4b45524e32L; // "TNNKERN2"
    private static final int TRAILER = Hash.BYTES + Long.BYTES + Integer.BYTES + Integer.BYTES + Long.BYTES;

    private CacheEntry() {}

    /** What goes behind the image's bytes. */
    static ByteBuffer tail(String key, ModuleImage image) {
        byte[] log = image.log().getBytes(StandardCharsets.UTF_8);
        ByteBuffer tail = ByteBuffer.allocate(log.length + TRAILER).order(ByteOrder.LITTLE_ENDIAN);
        tail.put(log)
                .put(hash(key, image.format(), image.bytes(), MemorySegment.ofArray(log)))
                .putLong(image.bytes().byteSize())
                .putInt(log.length)
                .putInt(code(image.format()))
                .putLong(MAGIC);
        return tail.flip();
    }

    /** @return null when the file is not whole, or another key's */
    static @Nullable ModuleImage parse(String key, MemorySegment file, String name, Path path) {
        long size = file.byteSize();
        if (size < TRAILER) {
            return null;
        }
        ByteBuffer trailer = ByteBuffer.wrap(
                        file.asSlice(size - TRAILER, TRAILER).toArray(ValueLayout.JAVA_BYTE))
                .order(ByteOrder.LITTLE_ENDIAN);
        byte[] hash = new byte[Hash.BYTES];
        trailer.get(hash);
        long length = trailer.getLong();
        int log = trailer.getInt();
        ModuleImage.@Nullable Format format = format(trailer.getInt());
        if (trailer.getLong() != MAGIC
                || length < 0
                || log < 0
                || length > size
                || length + log + TRAILER != size
                || format == null) {
            return null;
        }
        MemorySegment bytes = file.asSlice(0, length);
        MemorySegment said = file.asSlice(length, log);
        if (!Arrays.equals(hash, hash(key, format, bytes, said))) {
            return null;
        }
        return new ModuleImage(
                name,
                format,
                bytes.asReadOnly(),
                path,
                new String(said.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
    }

    private static int code(ModuleImage.Format format) {
        return switch (format) {
            case CUBIN -> 1;
            case PTX -> 2;
            case OBJECT -> 3;
        };
    }

    private static ModuleImage.@Nullable Format format(int code) {
        for (ModuleImage.Format format : ModuleImage.Format.values()) {
            if (code(format) == code) {
                return format;
            }
        }
        return null;
    }

    /** Memory for a whole file: managed, since images live as long as somebody holds them. */
    static MemorySegment room(long size) {
        return Arena.ofAuto().allocate(Math.max(1, size), 16).asSlice(0, size);
    }

    private static byte[] hash(String key, ModuleImage.Format format, MemorySegment bytes, MemorySegment log) {
        return new Hash().add(key + " " + format).add(bytes).add(log).bytes();
    }
}
