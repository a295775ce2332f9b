package dev.tenon.nativelib.mpi;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.Environment;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibraryName;
import dev.tenon.nativelib.LibrarySearch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * Open MPI, looked for once a process. That it is not there is a state, not a fault: {@link #search} says what was
 * tried, what is lost and what to do. Thread-safe.
 */
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

    private static final Lazy<LibrarySearch> HERE = new Lazy<>() {
        @Override
        protected LibrarySearch make() {
            return look();
        }
    };

    private MpiLibrary() {}

    /** How the search went. */
    public static LibrarySearch search() {
        return HERE.get();
    }

    private static LibrarySearch look() {
        // UCX, which Open MPI may load, takes SIGSEGV for itself, and HotSpot lives on that signal: its next implicit
        // null check would kill the process
        Environment.set("UCX_ERROR_SIGNALS", "", true);
        return LibraryFinder.here().search(NAME);
    }

    /**
     * A handle of one of its functions, which returns a status.
     *
     * @throws NativeException when there is no Open MPI, or it lacks the function
     */
    static MethodHandle function(String name, ValueLayout... arguments) {
        return Downcalls.handle(symbol(name), Downcalls.status(arguments));
    }

    /** The address of one of its functions or data. */
    static MemorySegment symbol(String name) {
        return search().opened()
                .orElseThrow(() -> new NativeException(search().reason()))
                .require(name);
    }
}
