package dev.tenon.nativelib.cudnn;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.NativeLibrary;
import dev.tenon.nativelib.StatusCheck;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** cuDNN of this machine, and the check of its statuses. Thread-safe. */
public final class CudnnLibrary {
    private static final int LONGEST = 256;

    /** The checked tier. */
    public static final StatusCheck CHECK =
            new StatusCheck("cuDNN", status -> Downcalls.string(Cudnn.cudnnGetErrorString(status), LONGEST), _ -> "");

    private CudnnLibrary() {}

    /** How the search went; runs on the first call. Never throws. */
    public static LibrarySearch search() {
        return LibraryFinder.here().search(CudaLibraries.CUDNN);
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
                        descriptor, new UnsupportedException(library + " has no " + symbol + "; cuDNN 9 is needed"));
    }
}
