package dev.tenon.nativelib;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandle;

/** The C library's environment, which native libraries read and Java's copy does not show. */
public final class Environment {
    private Environment() {}

    /**
     * Sets a variable for native libraries of this process, where the platform has {@code setenv}; to be done before
     * the library that reads it is opened.
     */
    public static void set(String name, String value, boolean overwrite) {
        Downcalls.standard("setenv").ifPresent(function -> {
            MethodHandle setenv =
                    Downcalls.handle(function, Downcalls.status(Downcalls.LONG, Downcalls.LONG, Downcalls.INT));
            try (Arena arena = Arena.ofConfined()) {
                int _ = (int) setenv.invokeExact(
                        arena.allocateFrom(name).address(),
                        arena.allocateFrom(value).address(),
                        overwrite ? 1 : 0);
            } catch (Throwable e) {
                throw Downcalls.rethrow(e);
            }
        });
    }
}
