package dev.tenon.nativelib.cublas;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibraryName;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.NativeLibrary;
import dev.tenon.nativelib.StatusCheck;
import dev.tenon.nativelib.cuda.CuLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** cuBLAS and cuBLASLt of this machine, and the checks of their statuses. Thread-safe. */
public final class CublasLibrary {
    private static final int LONGEST = 256;

    /** The checked tier of cuBLAS. */
    public static final StatusCheck CHECK = new StatusCheck(
            "cuBLAS",
            status -> Downcalls.string(Cublas.cublasGetStatusName(status), LONGEST),
            status -> Downcalls.string(Cublas.cublasGetStatusString(status), LONGEST));

    /** The checked tier of cuBLASLt. */
    public static final StatusCheck CHECK_LT = new StatusCheck(
            "cuBLASLt",
            status -> Downcalls.string(CublasLt.cublasLtGetStatusName(status), LONGEST),
            status -> Downcalls.string(CublasLt.cublasLtGetStatusString(status), LONGEST));

    private CublasLibrary() {}

    /**
     * How the search for cuBLAS went; runs on the first call. The driver's major version is preferred: cuBLAS 13 does
     * not start on a driver for CUDA 12. Never throws.
     */
    public static LibrarySearch search() {
        return search(CudaLibraries.CUBLAS, CudaLibraries.CUBLAS_12);
    }

    /** The same for cuBLASLt. */
    public static LibrarySearch searchLt() {
        return search(CudaLibraries.CUBLAS_LT, CudaLibraries.CUBLAS_LT_12);
    }

    private static LibrarySearch search(LibraryName any, LibraryName forTwelve) {
        int driver = CuLibrary.version();
        if (driver > 0 && driver < 13000) {
            LibrarySearch same = LibraryFinder.here().search(forTwelve);
            if (same.found() != null) {
                return same;
            }
        }
        return LibraryFinder.here().search(any);
    }

    static MethodHandle bind(String symbol, FunctionDescriptor descriptor) {
        return bind(search(), symbol, descriptor);
    }

    static MethodHandle bindLt(String symbol, FunctionDescriptor descriptor) {
        return bind(searchLt(), symbol, descriptor);
    }

    private static MethodHandle bind(LibrarySearch search, String symbol, FunctionDescriptor descriptor) {
        NativeLibrary library = search.found();
        if (library == null) {
            return Downcalls.missing(descriptor, new UnsupportedException(search.reason()));
        }
        Optional<MemorySegment> function = library.find(symbol);
        return function.isPresent()
                ? Downcalls.handle(function.get(), descriptor)
                : Downcalls.missing(
                        descriptor,
                        new UnsupportedException(library + " has no " + symbol + "; CUDA 12.0 or newer is needed"));
    }
}
