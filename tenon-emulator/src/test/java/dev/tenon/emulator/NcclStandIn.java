package dev.tenon.emulator;

import dev.tenon.core.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A library that answers to NCCL's name, in a folder of its own, and child processes that find it and have two emulated
 * devices.
 */
record NcclStandIn(Path folder) {
    private static final String SOURCE = "nccl_standin.cpp";

    /** Builds it. */
    static NcclStandIn build(Path folder) throws IOException, InterruptedException {
        Path source = folder.resolve(SOURCE);
        Files.writeString(source, Harness.text(SOURCE));
        List<String> command = new ArrayList<>(Toolchain.compiler().command());
        command.addAll(List.of(
                "-std=c++17", "-O1", "-shared", "-fPIC", "-o", folder.resolve("libnccl.so.2") + "", source + ""));
        Process process = new ProcessBuilder(command).inheritIO().start();
        if (process.waitFor() != 0) {
            throw new AssertionError("the stand-in for NCCL does not compile");
        }
        return new NcclStandIn(folder);
    }

    /** Runs a child to its end. @throws AssertionError with what it printed, when it ends with another code than 0 */
    String run(Class<?> main, Map<String, String> more, String... arguments) throws IOException, InterruptedException {
        Files.deleteIfExists(log());
        Map<String, String> environment = new HashMap<>(more);
        environment.put("TENON_LIBRARY_PATH", folder.toString());
        environment.put("TENON_EMULATOR_DEVICES", "2");
        environment.put("TENON_EMULATOR_WORKERS", "1");
        environment.put("STANDIN_LOG", log().toString());
        ChildJvm.Result result = ChildJvm.run(main, environment, arguments);
        if (result.code() != 0 || result.crashed()) {
            throw new AssertionError("the child ended with " + result.code() + ": " + result.out());
        }
        return result.out();
    }

    /** What became of the communicators, in order. */
    List<String> lines() throws IOException {
        return Files.exists(log()) ? Files.readAllLines(log()) : List.of();
    }

    private Path log() {
        return folder.resolve("log");
    }
}
