package dev.tenon.nativelib.nvtx;

import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;

import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * Named ranges for NVIDIA's profilers. Started and ended by an identity, not pushed and popped, since NVTX keeps its
 * stack by carrier thread and a virtual thread may change its carrier. Where the library is absent every call does
 * nothing. Thread-safe.
 */
public final class NvtxRanges {
    private static final long NONE = 0;

    private NvtxRanges() {}

    /** How the search for the library went. */
    public static LibrarySearch search() {
        return LibraryFinder.here().search(CudaLibraries.NVTX);
    }

    /** Starts a range. @return its identity for {@link #end}; 0 where there is no library */
    public static long start(String name) {
        if (search().found() == null) {
            return NONE;
        }
        try (Arena arena = Arena.ofConfined()) {
            return (long) Start.HANDLE.invokeExact(arena.allocateFrom(name).address());
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** Ends a range. */
    public static void end(long range) {
        if (range == NONE || search().found() == null) {
            return;
        }
        try {
            End.HANDLE.invokeExact(range);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** Marks a moment. */
    public static void mark(String name) {
        if (search().found() == null) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            Mark.HANDLE.invokeExact(arena.allocateFrom(name).address());
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private static MethodHandle bind(String symbol, FunctionDescriptor descriptor) {
        NativeLibrary library = search().opened().orElseThrow();
        return library.find(symbol)
                .map(function -> Downcalls.handle(function, descriptor))
                .orElseGet(() -> Downcalls.missing(
                        descriptor, new dev.tenon.core.error.UnsupportedException(library + " has no " + symbol)));
    }

    private static final class Start {
        static final MethodHandle HANDLE = bind("nvtxRangeStartA", FunctionDescriptor.of(LONG, LONG));
    }

    private static final class End {
        static final MethodHandle HANDLE = bind("nvtxRangeEnd", FunctionDescriptor.ofVoid(LONG));
    }

    private static final class Mark {
        static final MethodHandle HANDLE = bind("nvtxMarkA", FunctionDescriptor.ofVoid(LONG));
    }
}
