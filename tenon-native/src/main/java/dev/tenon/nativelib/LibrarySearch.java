package dev.tenon.nativelib;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the search for a library went.
 *
 * @param library what was looked for
 * @param attempts everything that was tried, in order
 * @param found the library, null when there is none that will do
 */
public record LibrarySearch(
        LibraryName library,
        List<Attempt> attempts,
        @Nullable NativeLibrary found) {
    /**
     * One name at one place.
     *
     * @param file the file's name
     * @param place the folder, or what stands for the loader's own path
     * @param outcome what came of it
     * @param detail where it was opened from, or why it will not do
     */
    public record Attempt(String file, String place, Outcome outcome, String detail) {}

    /** What came of an attempt. */
    public enum Outcome {
        OPENED,
        NOT_THERE,
        /** There, and will not do; the detail says why. */
        REFUSED
    }

    public LibrarySearch {
        attempts = List.copyOf(attempts);
    }

    public Optional<NativeLibrary> opened() {
        return Optional.ofNullable(found);
    }

    /** One line that says why the library is not there, and what would help; empty when it is. */
    public String reason() {
        if (found != null) {
            return "";
        }
        List<String> refused = attempts.stream()
                .filter(attempt -> attempt.outcome() == Outcome.REFUSED)
                .map(Attempt::detail)
                .distinct()
                .toList();
        String what = refused.isEmpty()
                ? attempts.isEmpty()
                        ? "there is none for this operating system"
                        : "not found under " + String.join(", ", files()) + " in " + places().size() + " places"
                : String.join("; ", refused);
        return library.name() + ": " + what + "; " + library.fix();
    }

    /** The names that were tried. */
    public List<String> files() {
        return attempts.stream().map(Attempt::file).distinct().toList();
    }

    /** The places that were tried. */
    public List<String> places() {
        return attempts.stream().map(Attempt::place).distinct().toList();
    }
}
