package dev.tenon.cuda.port;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A compiled kernel file.
 *
 * @param name the source's name, for messages
 * @param format what the bytes are
 * @param bytes the image; the memory is managed and shared
 * @param file where it lies on disk, null where only the bytes are; platforms that load files write one of their own
 *     then
 * @param log what the compiler said (warnings, registers), may be empty
 */
public record ModuleImage(
        String name,
        Format format,
        MemorySegment bytes,
        @Nullable Path file,
        String log) {
    /** Kinds of images. */
    public enum Format {
        /** Machine code for one architecture. */
        CUBIN,
        /** Assembly that the driver compiles. */
        PTX,
        /** A shared object for the host. */
        OBJECT
    }
}
