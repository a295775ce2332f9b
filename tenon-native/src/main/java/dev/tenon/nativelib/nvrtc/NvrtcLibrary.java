package dev.tenon.nativelib.nvrtc;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.NativeLibrary;
import dev.tenon.nativelib.StatusCheck;
import dev.tenon.nativelib.cuda.CuLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Optional;

/**
 * The run-time compiler's library of this machine: version, architectures, and the check of its statuses. Thread-safe.
 */
public final class NvrtcLibrary {
    /** The checked tier. */
    public static final StatusCheck CHECK =
            new StatusCheck("NVRTC", status -> "", status -> Downcalls.string(Nvrtc.nvrtcGetErrorString(status), 256));

    private NvrtcLibrary() {}

    /** How the search went; runs on the first call. The driver's major version is preferred. Never throws. */
    public static LibrarySearch search() {
        int driver = CuLibrary.version();
        if (driver > 0 && driver < 13000) {
            LibrarySearch same = LibraryFinder.here().search(CudaLibraries.NVRTC_12);
            if (same.found() != null) {
                return same;
            }
        }
        return LibraryFinder.here().search(CudaLibraries.NVRTC);
    }

    /** {@code 13.0}. @throws UnsupportedException where there is none */
    public static String version() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(ValueLayout.JAVA_INT, 2);
            CHECK.check(Nvrtc.nvrtcVersion(numbers.address(), numbers.address() + 4), "nvrtcVersion()");
            return numbers.getAtIndex(ValueLayout.JAVA_INT, 0) + "." + numbers.getAtIndex(ValueLayout.JAVA_INT, 1);
        }
    }

    /**
     * The compute capabilities it compiles for, ascending: 75, 80, … @throws UnsupportedException where there is none
     */
    public static int[] architectures() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            CHECK.check(Nvrtc.nvrtcGetNumSupportedArchs(count.address()), "nvrtcGetNumSupportedArchs()");
            MemorySegment numbers = arena.allocate(ValueLayout.JAVA_INT, count.get(ValueLayout.JAVA_INT, 0));
            CHECK.check(Nvrtc.nvrtcGetSupportedArchs(numbers.address()), "nvrtcGetSupportedArchs()");
            int[] sorted = numbers.toArray(ValueLayout.JAVA_INT);
            Arrays.sort(sorted);
            return sorted;
        }
    }

    static MethodHandle bind(String symbol, FunctionDescriptor descriptor) {
        LibrarySearch search = search();
        NativeLibrary library = search.found();
        if (library == null) {
            return Downcalls.missing(descriptor, new UnsupportedException(search.reason()));
        }
        Optional<MemorySegment> function = library.find(symbol);
        return function.isPresent()
                ? Downcalls.handle(function.get(), descriptor)
                : Downcalls.missing(
                        descriptor,
                        new UnsupportedException(library + " has no " + symbol + "; NVRTC 12.0 or newer is needed"));
    }
}
