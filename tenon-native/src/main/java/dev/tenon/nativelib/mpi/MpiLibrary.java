package dev.tenon.nativelib.mpi;

import dev.tenon.core.error.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks for Open MPI, once a process. That it is not there is a state, not a fault: {@link #state} says what was tried and what to do. Thread-safe.
 */
public final class MpiLibrary {
    private static final List<String> NAMES = List.of("libmpi.so.40", "libmpi.so");

    private static final List<String> FOLDERS = List.of(
            "/usr/lib/x86_64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu/openmpi/lib",
            "/usr/lib/aarch64-linux-gnu/openmpi/lib",
            "/usr/lib64/openmpi/lib",
            "/usr/local/lib",
            "/usr/local/openmpi/lib",
            "/opt/openmpi/lib");

    /** In Open MPI handles are the addresses of data; other MPIs have numbers, and this symbol is missing. */
    private static final String OPEN_MPI_ONLY = "ompi_mpi_comm_world";

    private static final MpiLibrary HERE = look();

    private final @Nullable SymbolLookup symbols;
    private final String state;

    private MpiLibrary(@Nullable SymbolLookup symbols, String state) {
        this.symbols = symbols;
        this.state = state;
    }

    /** Whether Open MPI was found. */
    public static boolean isPresent() {
        return HERE.symbols != null;
    }

    /** Where Open MPI was found; or every place tried, and the fix. */
    public static String state() {
        return HERE.state;
    }

    private static MpiLibrary look() {
        keepSignalsToTheJvm();
        List<String> tried = new ArrayList<>();
        for (String name : NAMES) {
            MpiLibrary found = open(name, name, tried);
            if (found != null) {
                return found;
            }
            for (String folder : FOLDERS) {
                found = open(Path.of(folder, name), tried);
                if (found != null) {
                    return found;
                }
            }
        }
        return new MpiLibrary(
                null,
                "Open MPI was not found; without it ranks cannot be processes. Fix: install it (Debian and Ubuntu: openmpi-bin libopenmpi-dev). Tried: "
                        + String.join(", ", tried));
    }

    private static @Nullable MpiLibrary open(Path file, List<String> tried) {
        return java.nio.file.Files.exists(file) ? open(file.toString(), file.toString(), tried) : null;
    }

    @SuppressWarnings("restricted") // this module is the one that opens libraries
    private static @Nullable MpiLibrary open(String name, String place, List<String> tried) {
        tried.add(place);
        try {
            SymbolLookup symbols = name.contains("/")
                    ? SymbolLookup.libraryLookup(Path.of(name), Arena.global())
                    : SymbolLookup.libraryLookup(name, Arena.global());
            if (symbols.find(OPEN_MPI_ONLY).isPresent()) {
                return new MpiLibrary(symbols, place);
            }
            tried.set(tried.size() - 1, place + " (not Open MPI)");
        } catch (IllegalArgumentException _) {
            // not there, which is what was asked
        }
        return null;
    }

    /** UCX, which Open MPI may load, takes SIGSEGV for itself, and HotSpot lives on that signal: its next implicit null check would kill the process. Must be set before the library is opened. */
    private static void keepSignalsToTheJvm() {
        Linker.nativeLinker().defaultLookup().find("setenv").ifPresent(function -> {
            try (Arena arena = Arena.ofConfined()) {
                int _ = (int) handle(
                                function,
                                FunctionDescriptor.of(
                                        ValueLayout.JAVA_INT,
                                        ValueLayout.ADDRESS,
                                        ValueLayout.ADDRESS,
                                        ValueLayout.JAVA_INT))
                        .invokeExact(arena.allocateFrom("UCX_ERROR_SIGNALS"), arena.allocateFrom(""), 1);
            } catch (Throwable e) {
                throw new IllegalStateException(e); // a downcall throws nothing of its own
            }
        });
    }

    /** A handle of one of its functions, which returns an {@code int} status. @throws NativeException when there is no Open MPI, or it lacks the function */
    static MethodHandle function(String name, ValueLayout... arguments) {
        return handle(symbol(name), FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
    }

    /** The address of one of its functions or data. */
    static MemorySegment symbol(String name) {
        if (HERE.symbols == null) {
            throw new NativeException(HERE.state);
        }
        return HERE.symbols
                .find(name)
                .orElseThrow(() -> new NativeException(
                        "Open MPI (" + HERE.state + ") has no " + name + "; version 3 or newer is needed"));
    }

    @SuppressWarnings("restricted") // this module is the one that links
    private static MethodHandle handle(MemorySegment function, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(function, descriptor);
    }
}
