package dev.tenon.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
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

    /** What can be said where the loader cannot be asked. */
    private static String byContent(String name) {
        return name + ": the loader refuses it; a library that it needs may be missing";
    }
}
