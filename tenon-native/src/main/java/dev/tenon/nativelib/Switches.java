package dev.tenon.nativelib;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Environment variables that switch something on or off. What they cannot mean is told in one warning and passed over:
 * a program does not fail for it, but a misspelt switch is not taken for a set one.
 */
public final class Switches {
    private Switches() {}

    /**
     * Whether a variable is 1; to be asked once, since each asking warns.
     *
     * @param absent the answer where it is not set, or neither 0 nor 1
     */
    public static boolean on(String variable, boolean absent) {
        return on(variable, System.getenv(variable), absent, Switches::warn);
    }

    static boolean on(String variable, @Nullable String value, boolean absent, Consumer<String> warning) {
        return switch (value == null ? "" : value.strip()) {
            case "" -> absent;
            case "0" -> false;
            case "1" -> true;
            default -> {
                warning.accept(variable + " is \"" + value + "\"; it may be 0 or 1, and counts as " + (absent ? 1 : 0));
                yield absent;
            }
        };
    }

    /** Warns of names that {@link LibraryFinder#HIDE} may not have. */
    static void checkHidden(String value, Consumer<String> warning) {
        List<String> unknown = names(value).filter(name -> !name.isEmpty()).toList();
        if (unknown.isEmpty()) {
            return;
        }
        List<String> known = new ArrayList<>();
        CudaLibraries.ALL.forEach(library -> known.add(library.name()));
        known.addAll(List.of("nvcc", "Open MPI"));
        unknown = unknown.stream().filter(name -> !known.contains(name)).toList();
        if (!unknown.isEmpty()) {
            warning.accept(LibraryFinder.HIDE + " names " + String.join(", ", unknown)
                    + ", which hides nothing; known are " + String.join(", ", known));
        }
    }

    /** The names of a list with commas. */
    static Stream<String> names(String list) {
        return Stream.of(list.split(",")).map(String::strip);
    }

    static void warn(String message) {
        System.getLogger(Switches.class.getName()).log(Level.WARNING, message);
    }
}
