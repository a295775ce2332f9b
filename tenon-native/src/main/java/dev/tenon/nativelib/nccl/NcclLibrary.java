package dev.tenon.nativelib.nccl;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.Environment;
import dev.tenon.nativelib.LibraryFinder;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.NativeLibrary;
import dev.tenon.nativelib.StatusCheck;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * NCCL of this machine: found when first asked for, its version, unique ids, and the check of its statuses. That it is
 * not there is a state, not a fault. Thread-safe.
 */
public final class NcclLibrary {
    /** The checked tier. */
    public static final StatusCheck CHECK = new StatusCheck("NCCL", NcclConstants::name, NcclLibrary::text);

    private static final int LONGEST = 1024;

    /** Made once; what NCCL reads of the environment is set before it. */
    private static final Lazy<LibrarySearch> SEARCH = new Lazy<>() {
        @Override
        protected LibrarySearch make() {
            return look();
        }
    };

    private NcclLibrary() {}

    private static LibrarySearch look() {
        // multicast over NVLink is off unless asked for: not every virtual machine and container has it whole
        Environment.set("NCCL_NVLS_ENABLE", "0", false);
        // connect when a communicator opens, not within the first collective of a kind: there a missing rank would
        // hold up a call that should only enqueue
        Environment.set("NCCL_RUNTIME_CONNECT", "0", false);
        return LibraryFinder.here().search(CudaLibraries.NCCL);
    }

    /** How the search went; runs on the first call. Never throws. */
    public static LibrarySearch search() {
        return SEARCH.get();
    }

    /** Why there is no NCCL, and what to do; empty where it is. Never throws. */
    public static String unavailable() {
        return search().found() == null ? search().reason() : "";
    }

    /** Such as 22809 for 2.28.9. @throws UnsupportedException where there is none */
    public static int version() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment version = arena.allocate(ValueLayout.JAVA_INT);
            CHECK.check(Nccl.ncclGetVersion(version.address()), "ncclGetVersion()");
            return version.get(ValueLayout.JAVA_INT, 0);
        }
    }

    /**
     * What the ranks of a new world must share: 128 bytes, made by one of them, which from then on listens.
     *
     * @throws UnsupportedException where there is no NCCL
     */
    public static byte[] newUniqueId() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment id = arena.allocate(NcclConstants.UNIQUE_ID);
            CHECK.check(Nccl.ncclGetUniqueId(id.address()), "ncclGetUniqueId()");
            return id.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** NCCL's words for the last fault of this thread's calls; empty when it has none. */
    public static String lastError() {
        return search().found() == null ? "" : Downcalls.string(Nccl.ncclGetLastError(0), LONGEST);
    }

    private static String text(int status) {
        String last = status == NcclConstants.SUCCESS ? "" : lastError();
        String words = Downcalls.string(Nccl.ncclGetErrorString(status), LONGEST);
        return last.isBlank() ? words : words + " (" + last.strip() + ")";
    }

    static MethodHandle bind(String symbol, FunctionDescriptor descriptor) {
        NativeLibrary library = search().found();
        if (library == null) {
            return Downcalls.missing(descriptor, new UnsupportedException(search().reason()));
        }
        Optional<MemorySegment> function = library.find(symbol);
        return function.isPresent()
                ? Downcalls.handle(function.get(), descriptor)
                : Downcalls.missing(
                        descriptor,
                        new UnsupportedException(library + " has no " + symbol + "; NCCL 2.14 or newer is needed"));
    }
}
