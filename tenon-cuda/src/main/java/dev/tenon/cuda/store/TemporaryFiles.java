package dev.tenon.cuda.store;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of files that are being written, and what a killed writer left of them. */
public final class TemporaryFiles {
    private static final Pattern NAME = Pattern.compile("\\.(\\d+)-[0-9a-f]+-[0-9a-f]+\\.tmp");
    private static final Duration DEAD = Duration.ofMinutes(1);
    /** Process numbers mean nothing between machines that share a home folder, so age decides as well. */
    private static final Duration OLD = Duration.ofDays(1);

    private TemporaryFiles() {}

    static String name(String key, long random) {
        return "." + ProcessHandle.current().pid() + "-" + key.substring(0, Math.min(16, key.length())) + "-"
                + Long.toHexString(random) + ".tmp";
    }

    /** Deletes files whose writer is gone. */
    static void sweep(Path folder) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, ".*.tmp")) {
            for (Path file : files) {
                Matcher name = NAME.matcher(file.getFileName().toString());
                if (name.matches() && abandoned(file, Long.parseLong(name.group(1)))) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static boolean abandoned(Path file, long writer) {
        try {
            Duration age = Duration.between(Files.getLastModifiedTime(file).toInstant(), Instant.now());
            return age.compareTo(OLD) > 0
                    || age.compareTo(DEAD) > 0 && ProcessHandle.of(writer).isEmpty();
        } catch (IOException _) {
            return false; // gone meanwhile
        }
    }
}
