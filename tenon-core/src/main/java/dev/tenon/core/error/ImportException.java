package dev.tenon.core.error;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A model or tokenizer file that cannot be read: the message names the file and the node, tensor or offset. */
public final class ImportException extends TenonException {
    private static final long serialVersionUID = 1L;

    public ImportException(String message) {
        super(message);
    }

    public ImportException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Of a file that the system does not let us read, or that is none. */
    public static ImportException unreadable(Path file, IOException e) {
        return Files.isDirectory(file)
                ? new ImportException(file + " cannot be read: it is a directory", e)
                : unreadable(file.toString(), e);
    }

    /** Of a file that the system does not let us read, saying why in words. */
    public static ImportException unreadable(String file, IOException e) {
        String why = switch (e) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "there is no permission to read it";
            case FileSystemException other when other.getReason() != null -> other.getReason();
            default -> String.valueOf(e.getMessage());
        };
        return new ImportException(file + " cannot be read: " + why, e);
    }

    @Override
    TenonException located(String message) {
        return new ImportException(message);
    }
}
