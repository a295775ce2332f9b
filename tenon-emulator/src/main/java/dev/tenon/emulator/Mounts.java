package dev.tenon.emulator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** What the system says of mounted file systems. */
final class Mounts {
    private static final Path TABLE = Path.of("/proc/self/mounts");

    private Mounts() {}

    /** Whether a file lies on a file system that maps no code; false where the system does not say. */
    static boolean noexec(Path file) {
        try {
            return noexec(file.toRealPath(), Files.readAllLines(TABLE));
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * The same by a table whose lines are: device, mount point, type, options. The last of the longest mount points
     * holds the file.
     */
    static boolean noexec(Path file, List<String> table) {
        int longest = -1;
        boolean noexec = false;
        for (String line : table) {
            String[] fields = line.split(" ");
            if (fields.length < 4) {
                continue;
            }
            try {
                Path point = Path.of(fields[1].replace("\\040", " "));
                if (file.startsWith(point) && point.getNameCount() >= longest) {
                    longest = point.getNameCount();
                    noexec = Arrays.asList(fields[3].split(",")).contains("noexec");
                }
            } catch (InvalidPathException _) {
                // a mount point with a name that the locale does not have holds no file of ours
            }
        }
        return noexec;
    }
}
