package dev.tenon.cuda.driver;

import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibraryName;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.LibraryVersions;
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
        // the compiler that fits the driver is the one that is used; NCCL has its environment set before it is opened
        return library.equals(CudaLibraries.NVRTC)
                ? NvrtcLibrary.search()
                : library.equals(CudaLibraries.NCCL)
                        ? NcclLibrary.search()
                        : LibraryFinder.here().search(library);
    }
}
