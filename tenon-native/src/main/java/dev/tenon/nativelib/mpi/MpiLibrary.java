package dev.tenon.nativelib.mpi;

import dev.tenon.core.error.NativeException;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibraryName;
import dev.tenon.nativelib.LibrarySearch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/** Open MPI, looked for once a process. That it is not there is a state, not a fault: {@link #search} says what was tried, what is lost and what to do. Thread-safe. */
public final class MpiLibrary {
    /** In Open MPI handles are the addresses of data; in other MPIs they are numbers, and this symbol is missing. */
    private static final String OPEN_MPI_ONLY = "ompi_mpi_comm_world";

    private static final LibraryName NAME = new LibraryName(
            "Open MPI",
            List.of("libmpi.so.40", "libmpi.so"),
            List.of(),
            "ranks that are processes, on one host or many",
            "install Open MPI (Debian, Ubuntu: openmpi-bin libopenmpi-dev), or name its folder in TENON_LIBRARY_PATH",
            List.of(),
            library -> library.find(OPEN_MPI_ONLY).isPresent() ? "" : "it is another MPI than Open MPI");

    private static final LibrarySearch HERE = look();

    private MpiLibrary() {}

    /** How the search went. */
    public static LibrarySearch search() {
        return HERE;
    }

    private static LibrarySearch look() {
        keepSignalsToTheJvm();
        return LibraryFinder.here().search(NAME);
    }

    /** UCX, which Open MPI may load, takes SIGSEGV for itself, and HotSpot lives on that signal: its next implicit null check would kill the process. Must be set before the library is opened. */
    private static void keepSignalsToTheJvm() {
        Downcalls.standard("setenv").ifPresent(function -> {
            MethodHandle setenv = Downcalls.handle(
                    function, Downcalls.status(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
            try (Arena arena = Arena.ofConfined()) {
                int _ = (int) setenv.invokeExact(
                        arena.allocateFrom("UCX_ERROR_SIGNALS").address(),
                        arena.allocateFrom("").address(),
                        1);
            } catch (Throwable e) {
                throw Downcalls.rethrow(e);
            }
        });
    }

    /** A handle of one of its functions, which returns a status. @throws NativeException when there is no Open MPI, or it lacks the function */
    static MethodHandle function(String name, ValueLayout... arguments) {
        return Downcalls.handle(symbol(name), Downcalls.status(arguments));
    }

    /** The address of one of its functions or data. */
    static MemorySegment symbol(String name) {
        return HERE.opened()
                .orElseThrow(() -> new NativeException(HERE.reason()))
                .require(name);
    }
}
