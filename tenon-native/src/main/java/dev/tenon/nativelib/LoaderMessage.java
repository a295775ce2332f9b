package dev.tenon.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Why a library could not be opened, in one line. Java itself says only that it could not. */
final class LoaderMessage {
    private static final int RTLD_LAZY = 1;
    private static final int LONGEST = 4096;

    private LoaderMessage() {}

    static String of(String name) {
        Optional<MemorySegment> dlopen = Downcalls.standard("dlopen");
        Optional<MemorySegment> dlerror = Downcalls.standard("dlerror");
        if (dlopen.isPresent() && dlerror.isPresent()) {
            try (Arena arena = Arena.ofConfined()) {
                Object handle = Downcalls.handle(dlopen.get(), FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT))
                        .invoke(arena.allocateFrom(name), RTLD_LAZY);
                if (handle instanceof MemorySegment opened && opened.address() == 0) {
                    Object text = Downcalls.handle(dlerror.get(), FunctionDescriptor.of(ADDRESS))
                            .invoke();
                    if (text instanceof MemorySegment words && words.address() != 0) {
                        return Downcalls.string(words.address(), LONGEST).replace('\n', ' ');
                    }
                }
            } catch (Throwable e) {
                return byContent(name) + " (" + e + ")";
            }
        }
        return byContent(name);
    }

    /** What the file's first bytes tell, for systems whose loader cannot be asked. */
    private static String byContent(String name) {
        try (InputStream in = Files.newInputStream(Path.of(name))) {
            byte[] magic = in.readNBytes(4);
            boolean object = magic.length == 4 && magic[0] == 0x7f && magic[1] == 'E' && magic[2] == 'L';
            boolean windows = magic.length >= 2 && magic[0] == 'M' && magic[1] == 'Z';
            return name
                    + (object || windows
                            ? ": the loader refuses it; a library that it needs may be missing"
                            : ": not a library");
        } catch (IOException | java.nio.file.InvalidPathException _) {
            return name + ": cannot be read";
        }
    }
}
