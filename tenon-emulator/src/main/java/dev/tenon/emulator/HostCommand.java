package dev.tenon.emulator;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A command that ran to its end.
 *
 * @param status its exit status
 * @param output both of its streams
 */
record HostCommand(int status, String output) {
    private static final long SECONDS = 300;

    /** @throws IOException when it cannot be started, or takes longer than 5 minutes */
    static HostCommand run(Path folder, List<String> command) throws IOException {
        Path output = Files.createTempFile("tenon-", ".out");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().put("LC_ALL", "C"); // messages are read by us too
            Process process = builder.start();
            process.getOutputStream().close();
            try {
                if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                    throw new IOException(command.getFirst() + " took longer than " + SECONDS + " s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while " + command.getFirst() + " ran", e);
            } finally {
                process.destroyForcibly();
            }
            return new HostCommand(process.exitValue(), new String(Files.readAllBytes(output), StandardCharsets.UTF_8));
        } finally {
            Files.deleteIfExists(output);
        }
    }
}
