package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.compile.HostCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The host's C++ compiler.
 *
 * @param command how it is called
 * @param version its first line of {@code --version}
 * @param clang whether it takes clang's options rather than GCC's
 */
record CxxCompiler(List<String> command, String version, boolean clang) {
    static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Pattern NUMBER = Pattern.compile("(\\d+\\.\\d+(?:\\.\\d+)?)");

    /** What was found, or why nothing. */
    record Search(List<CxxCompiler> found, String why) {}

    /** {@code $TENON_CXX}, else {@code $CXX}, else g++, clang++ or c++ on the path. Never throws. */
    static Search search(Map<String, String> environment) {
        String os = System.getProperty("os.name", "");
        if (!os.equals("Linux")) {
            return new Search(List.of(), "the emulator runs on Linux hosts; this is " + os);
        }
        try {
            return searched(environment);
        } catch (NativeException e) { // says nothing about compilers
            return new Search(List.of(), "the emulator cannot ask for a C++ compiler: " + e.getMessage());
        }
    }

    private static Search searched(Map<String, String> environment) {
        for (String variable : List.of("TENON_CXX", "CXX")) {
            String own = environment.getOrDefault(variable, "").strip();
            if (!own.isEmpty()) {
                List<CxxCompiler> found = probe(List.of(own.split("\\s+")));
                return new Search(
                        found,
                        found.isEmpty()
                                ? "$" + variable + "=" + own + " is no C++ compiler that answers --version"
                                : "");
            }
        }
        List<String> tried = List.of("g++", "clang++", "c++");
        for (String name : tried) {
            List<CxxCompiler> found = probe(List.of(name));
            if (!found.isEmpty()) {
                return new Search(found, "");
            }
        }
        return new Search(
                List.of(),
                "the emulator needs a C++ compiler and found none of " + tried
                        + " on the path; install one (Debian: apt-get install g++) or set TENON_CXX");
    }

    private static List<CxxCompiler> probe(List<String> command) {
        List<String> question = new ArrayList<>(command);
        question.add("--version");
        try {
            HostCommand answer = HostCommand.run(Path.of("."), question, LIMIT);
            String first = answer.output().lines().findFirst().orElse("");
            return answer.status() == 0 ? List.of(new CxxCompiler(command, first, first.contains("clang"))) : List.of();
        } catch (IOException _) {
            return List.of();
        }
    }

    /** {@code g++ 12.2.0}. */
    String name() {
        Matcher number = NUMBER.matcher(version);
        String last = "";
        while (number.find()) {
            last = number.group(1);
        }
        return (clang ? "clang++ " : "g++ ") + last;
    }

    /** Calls it. @throws UnsupportedException when it cannot be started any more */
    HostCommand run(Path folder, List<String> arguments) {
        List<String> all = new ArrayList<>(command);
        all.addAll(arguments);
        try {
            return HostCommand.run(folder, all, LIMIT);
        } catch (IOException e) {
            throw new UnsupportedException("emulator: " + command.getFirst() + " cannot be run: " + e.getMessage(), e);
        }
    }
}
