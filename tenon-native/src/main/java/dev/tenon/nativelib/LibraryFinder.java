package dev.tenon.nativelib;

import dev.tenon.nativelib.LibrarySearch.Attempt;
import dev.tenon.nativelib.LibrarySearch.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks for libraries: in the folders that {@code TENON_LIBRARY_PATH} names, on the loader's own path, then where
 * toolkits, Python packages and distributions put them; not for those that {@code TENON_HIDE_LIBRARIES} names. A search
 * never throws, runs once, and its answer is kept. Thread-safe.
 */
public final class LibraryFinder {
    /** What stands for the loader's own path in an {@link Attempt}. */
    public static final String LOADER = "the loader's path";

    /** Names of libraries, with commas, that are as good as absent: to try what happens without them. */
    public static final String HIDE = "TENON_HIDE_LIBRARIES";

    private static final LibraryFinder HERE = new LibraryFinder(Machine.here());

    static {
        Switches.checkHidden(HERE.machine.variable(HIDE), Switches::warn);
    }

    private final Machine machine;
    private final Map<String, LibrarySearch> searches = new ConcurrentHashMap<>();

    public LibraryFinder(Machine machine) {
        this.machine = machine;
    }

    /** The one for this machine. */
    public static LibraryFinder here() {
        return HERE;
    }

    /** Opens the first file that will do. The answer is kept by the library's name. */
    public LibrarySearch search(LibraryName library) {
        return searches.computeIfAbsent(library.name(), _ -> look(library));
    }

    private LibrarySearch look(LibraryName library) {
        List<Attempt> attempts = new ArrayList<>();
        // "nvrtc 12" goes by "nvrtc"
        if (hides(library.name().replaceFirst(" [0-9]+$", ""))) {
            attempts.add(new Attempt(library.name(), HIDE, Outcome.REFUSED, "hidden by " + HIDE));
            return new LibrarySearch(library, attempts, null);
        }
        List<String> files = library.files(machine.system());
        for (Path folder : LibraryFolders.named(machine)) {
            NativeLibrary found = inFolder(library, folder, files, attempts);
            if (found != null) {
                return new LibrarySearch(library, attempts, found);
            }
        }
        for (String file : machine.system() == Machine.Os.OTHER ? List.<String>of() : files) {
            NativeLibrary found = onLoaderPath(library, file, attempts);
            if (found != null) {
                return new LibrarySearch(library, attempts, found);
            }
        }
        for (Path folder : files.isEmpty() ? List.<Path>of() : LibraryFolders.usual(machine)) {
            NativeLibrary found = inFolder(library, folder, files, attempts);
            if (found != null) {
                return new LibrarySearch(library, attempts, found);
            }
        }
        return new LibrarySearch(library, attempts, null);
    }

    /** Whether {@link #HIDE} names it. */
    public boolean hides(String name) {
        return Switches.names(machine.variable(HIDE)).anyMatch(name::equals);
    }

    private @Nullable NativeLibrary inFolder(
            LibraryName library, Path folder, List<String> files, List<Attempt> attempts) {
        for (String file : files) {
            Path path = folder.resolve(file);
            if (!Files.exists(path)) {
                attempts.add(new Attempt(file, folder.toString(), Outcome.NOT_THERE, ""));
                continue;
            }
            library.companions().stream()
                    .flatMap(glob -> LibraryFolders.matching(folder, glob).stream())
                    .map(Path::toAbsolutePath)
                    .filter(companion -> LibraryFile.fault(machine, companion).isEmpty())
                    .forEach(companion -> NativeLibrary.openOrNull(companion.toString()));
            NativeLibrary opened = open(library, path.toAbsolutePath(), file, folder.toString(), attempts);
            if (opened != null) {
                return opened;
            }
        }
        return null;
    }

    /** By path where the file is known, so that the one that is opened is the one that was looked at. */
    private @Nullable NativeLibrary onLoaderPath(LibraryName library, String file, List<Attempt> attempts) {
        List<Path> known = LibraryFolders.onLoaderPath(machine, file);
        for (Path path : known) {
            NativeLibrary opened = open(library, path.toAbsolutePath(), file, LOADER, attempts);
            if (opened != null) {
                return opened;
            }
        }
        if (!known.isEmpty()) {
            return null; // the loader would meet those that were refused
        }
        boolean safe = LibraryFolders.byDefault(machine, file).stream()
                .allMatch(path -> LibraryFile.fault(machine, path).isEmpty());
        NativeLibrary opened = safe ? NativeLibrary.openOrNull(file) : null;
        if (opened == null) {
            attempts.add(new Attempt(file, LOADER, Outcome.NOT_THERE, ""));
            return null;
        }
        return accepted(library, opened, file, LOADER, attempts);
    }

    private @Nullable NativeLibrary open(
            LibraryName library, Path path, String file, String place, List<Attempt> attempts) {
        String target = path.toString();
        String fault = LibraryFile.fault(machine, path);
        NativeLibrary opened = fault.isEmpty() ? NativeLibrary.openOrNull(target) : null;
        if (opened == null) {
            // the loader's own words cost several milliseconds of linking, so it is asked only about files that exist
            String why = fault.isEmpty() ? withFile(LoaderMessage.of(target), target) : target + ": " + fault;
            attempts.add(new Attempt(file, place, Outcome.REFUSED, why));
            return null;
        }
        return accepted(library, opened, file, place, attempts);
    }

    private static @Nullable NativeLibrary accepted(
            LibraryName library, NativeLibrary opened, String file, String place, List<Attempt> attempts) {
        String target = opened.name();
        String refusal = library.refusal().apply(opened);
        if (!refusal.isEmpty()) {
            attempts.add(new Attempt(file, place, Outcome.REFUSED, target + ": " + refusal));
            return null;
        }
        attempts.add(new Attempt(file, place, Outcome.OPENED, target));
        return opened;
    }

    private static String withFile(String message, String target) {
        return message.contains(target) ? message : target + ": " + message;
    }
}
