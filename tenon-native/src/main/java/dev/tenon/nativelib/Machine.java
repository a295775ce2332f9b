package dev.tenon.nativelib;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * What decides where libraries may lie.
 *
 * @param system the operating system
 * @param x86 whether the processor is x86-64; else it is taken for a 64-bit Arm
 * @param environment variables
 * @param root where absolute places start: the root folder, another one in tests
 * @param home the user's folder
 */
public record Machine(Os system, boolean x86, Map<String, String> environment, Path root, Path home) {
    /** Operating systems with libraries of ours. */
    public enum Os {
        LINUX,
        WINDOWS,
        OTHER
    }

    public Machine {
        environment = Map.copyOf(environment);
    }

    /** This one. */
    public static Machine here() {
        String name = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String processor = System.getProperty("os.arch", "");
        return new Machine(
                name.contains("linux") ? Os.LINUX : name.contains("windows") ? Os.WINDOWS : Os.OTHER,
                processor.equals("amd64") || processor.equals("x86_64"),
                System.getenv(),
                Path.of("/"),
                userHome());
    }

    /** The user's home; the root where there is none, or one with a name that the locale does not have. */
    private static Path userHome() {
        try {
            return Path.of(System.getProperty("user.home", "/"));
        } catch (InvalidPathException _) {
            return Path.of("/");
        }
    }

    /** The variable's value; empty when it is not set. */
    public String variable(String name) {
        return environment.getOrDefault(name, "").strip();
    }

    /** Debian's name for libraries of this processor. */
    String multiarch() {
        return x86 ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
    }
}
