package dev.tenon.nativelib;

import dev.tenon.core.error.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An opened library. Never closed: what libraries leave behind (threads, handlers at exit) does not bear unloading.
 * Thread-safe.
 */
public final class NativeLibrary {
    private final String name;
    private final SymbolLookup symbols;

    private NativeLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    /** Opens a file. @throws NativeException saying why it is no whole library, or with the loader's own words */
    public static NativeLibrary open(Path file) {
        String path = file.toAbsolutePath().toString();
        String fault = LibraryFile.fault(Machine.here(), file);
        if (!fault.isEmpty()) {
            throw new NativeException(path + ": " + fault);
        }
        NativeLibrary opened = openOrNull(path);
        if (opened == null) {
            throw new NativeException(LoaderMessage.of(path));
        }
        return opened;
    }

    /**
     * Opens what the system's loader finds under this name, or a path that {@link LibraryFile} finds no fault with;
     * null when the loader refuses.
     */
    @SuppressWarnings("restricted") // this module is the one that opens libraries
    static @Nullable NativeLibrary openOrNull(String name) {
        try {
            return new NativeLibrary(
                    name,
                    name.contains("/") || name.contains("\\")
                            ? SymbolLookup.libraryLookup(Path.of(name), Arena.global())
                            : SymbolLookup.libraryLookup(name, Arena.global()));
        } catch (IllegalArgumentException _) {
            return null; // Java gives no reason; LoaderMessage asks for it
        }
    }

    /** The path it was opened from, or the bare name where the system's loader found it. */
    public String name() {
        return name;
    }

    public Optional<MemorySegment> find(String symbol) {
        return symbols.find(symbol);
    }

    /** @throws NativeException naming the library that lacks the symbol */
    public MemorySegment require(String symbol) {
        return find(symbol)
                .orElseThrow(() ->
                        new NativeException(name + " has no symbol " + symbol + ": another version of it is needed"));
    }

    @Override
    public String toString() {
        return name;
    }
}
