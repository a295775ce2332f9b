package dev.tenon.nativelib;

import java.util.List;
import java.util.function.Function;

/**
 * A library that may be on this machine.
 *
 * @param name what people call it
 * @param linux file names, the one wanted most first
 * @param windows the same for Windows
 * @param lost what does not work without it
 * @param fix what to do to have it
 * @param companions globs of files beside it to be opened first, because it asks the loader for them by bare name while
 *     it runs
 * @param refusal why an opened file will not do after all (a toolkit's stub), or empty; never throws
 */
public record LibraryName(
        String name,
        List<String> linux,
        List<String> windows,
        String lost,
        String fix,
        List<String> companions,
        Function<NativeLibrary, String> refusal) {
    public LibraryName {
        linux = List.copyOf(linux);
        windows = List.copyOf(windows);
        companions = List.copyOf(companions);
    }

    public LibraryName(String name, List<String> linux, List<String> windows, String lost, String fix) {
        this(name, linux, windows, lost, fix, List.of(), library -> "");
    }

    /** The file names on such a system; empty where the library does not exist. */
    public List<String> files(Machine.Os system) {
        return switch (system) {
            case LINUX -> linux;
            case WINDOWS -> windows;
            case OTHER -> List.of();
        };
    }

    /** The same library with companions. */
    LibraryName withCompanions(String... globs) {
        return new LibraryName(name, linux, windows, lost, fix, List.of(globs), refusal);
    }

    /** The same library, which may turn out not to do once it is open. */
    LibraryName withRefusal(Function<NativeLibrary, String> check) {
        return new LibraryName(name, linux, windows, lost, fix, companions, check);
    }
}
