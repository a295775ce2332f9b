package dev.tenon.nativelib.cuda;

import static dev.tenon.nativelib.Downcalls.ADDRESS;
import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.handle;
import static dev.tenon.nativelib.Downcalls.missing;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.DriverVersion;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibrarySearch;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;

/**
 * The driver's library of this machine, and its functions by name and version. Versions matter: the bare symbol
 * {@code cuMemAlloc} is the 32-bit function of CUDA 2, {@code cuGetProcAddress} gives the one that a program of the
 * stated version means.
 */
public final class CuLibrary {
    private CuLibrary() {}

    /** How the search went; runs on the first call. Never throws. */
    public static LibrarySearch search() {
        return LibraryFinder.here().search(CudaLibraries.DRIVER);
    }

    /**
     * The version of CUDA that the driver is for, {@code 13000}; 0 where there is none. Loads the library, does not
     * start the driver.
     */
    public static int version() {
        if (search().found() == null) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment version = arena.allocate(ValueLayout.JAVA_INT);
            return CuDevice.cuDriverGetVersion(version.address()) == 0 ? version.get(ValueLayout.JAVA_INT, 0) : 0;
        }
    }

    /** Makes what the handles of its most used functions share. A call that was not prepared for works as well. */
    public static void prepare() {
        // in the order in which a first run calls them: init, context, memory, modules, streams, launches, copies
        Downcalls.prepare(List.of(
                status(INT),
                status(LONG, INT),
                status(LONG, INT, INT),
                status(LONG),
                status(LONG, LONG),
                status(LONG, LONG, LONG),
                status(LONG, LONG, INT),
                status(LONG, LONG, LONG, LONG),
                status(INT, LONG, LONG),
                status(LONG, ADDRESS, INT, LONG, LONG),
                status(LONG, INT, LONG),
                status(LONG, ADDRESS, LONG, LONG),
                status(ADDRESS, LONG, LONG, LONG),
                status(LONG, LONG, ADDRESS, LONG),
                status(LONG, INT, INT, INT, INT, INT, INT, INT, LONG, ADDRESS, LONG)));
    }

    /** Whether the driver has this function as of this version. */
    public static boolean has(String symbol, int version) {
        return lookup(symbol, version).isPresent();
    }

    /** A handle of the function; where there is none, one that throws {@link UnsupportedException} when called. */
    static MethodHandle bind(String symbol, int version, FunctionDescriptor descriptor) {
        Optional<MemorySegment> function = lookup(symbol, version);
        if (function.isPresent()) {
            return handle(function.get(), descriptor);
        }
        String reason = search().reason();
        return missing(
                descriptor,
                new UnsupportedException(
                        reason.isEmpty()
                                ? "the driver has no " + symbol + " of CUDA " + DriverVersion.text(version)
                                        + "; update the NVIDIA driver"
                                : reason));
    }

    private static Optional<MemorySegment> lookup(String symbol, int version) {
        if (search().found() == null) {
            return Optional.empty();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment found = arena.allocate(ValueLayout.JAVA_INT);
            int answer = (int) Entry.HANDLE.invokeExact(
                    arena.allocateFrom(symbol).address(), pointer.address(), version, 0L, found.address());
            long address = pointer.get(ValueLayout.JAVA_LONG, 0);
            return answer == 0 && address != 0 ? Optional.of(MemorySegment.ofAddress(address)) : Optional.empty();
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** Not touched before a library was found: its refusal has made sure that the symbol is there. */
    private static final class Entry {
        static final MethodHandle HANDLE = handle(
                search().opened().orElseThrow().require("cuGetProcAddress_v2"), status(LONG, LONG, INT, LONG, LONG));
    }
}
