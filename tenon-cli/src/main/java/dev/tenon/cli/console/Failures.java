package dev.tenon.cli.console;

import dev.tenon.core.error.TenonException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;

/** What ends a command, as people read it. */
public final class Failures {
    private Failures() {}

    /** One line that a user can act on. */
    public static String line(Throwable e) {
        String message = String.valueOf(e.getMessage()).strip().replaceAll("\\s*\\R\\s*", " ");
        return switch (e) {
            case TenonException _ -> message;
            case NoSuchFileException _ -> "no such file or folder, or none can be made there: " + message;
            case FileAlreadyExistsException _ -> message + " is there already, and is not a folder";
            case AccessDeniedException _ -> "no permission for " + message;
            case InvalidPathException bad -> Values.FilePath.words(bad);
            case IOException _ -> message;
            case OutOfMemoryError _ ->
                "the Java heap is too small: " + message + " (TENON_JAVA_OPTS=-Xmx… makes it larger)";
            default ->
                "unexpected " + e.getClass().getSimpleName() + ": " + message
                        + " (please report it, with the output of --stacktrace)";
        };
    }
}
