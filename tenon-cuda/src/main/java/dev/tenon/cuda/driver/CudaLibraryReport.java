package dev.tenon.cuda.driver;

import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibraryName;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.LibraryVersions;
import dev.tenon.nativelib.cublas.CublasLibrary;
import dev.tenon.nativelib.nccl.NcclLibrary;
import dev.tenon.nativelib.nvrtc.NvrtcLibrary;
import java.util.List;

/**
 * A library of CUDA's on this machine.
 *
 * @param search how it was looked for
 * @param version what it says of itself; empty where it is absent or does not tell
 */
public record CudaLibraryReport(LibrarySearch search, String version) {
    /** All of them; looks for those that nobody has asked for yet. Never throws. */
    public static List<CudaLibraryReport> all() {
        return CudaLibraries.ALL.stream()
                .map(CudaLibraryReport::search)
                .map(search -> new CudaLibraryReport(
                        search, search.opened().map(LibraryVersions::of).orElse("")))
                .toList();
    }

    private static LibrarySearch search(LibraryName library) {
        // those that fit the driver are the ones that are used
        if (library.equals(CudaLibraries.NVRTC)) {
            return NvrtcLibrary.search();
        }
        if (library.equals(CudaLibraries.CUBLAS)) {
            return CublasLibrary.search();
        }
        if (library.equals(CudaLibraries.CUBLAS_LT)) {
            return CublasLibrary.searchLt();
        }
        if (library.equals(CudaLibraries.NCCL)) {
            return NcclLibrary.search(); // which sets its environment before it is opened
        }
        return LibraryFinder.here().search(library);
    }
}
