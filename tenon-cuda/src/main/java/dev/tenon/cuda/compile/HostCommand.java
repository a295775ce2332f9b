package dev.tenon.cuda.compile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A compiler or another command of this host that ran to its end.
 *
 * @param status its exit status
 * @param output both of its streams
 */
public record HostCommand(int status, String output) {
    /**
     * Runs it in a folder, with messages in English, since we read them too.
     *
     * @throws IOException when it cannot be started, takes longer than the limit, or the thread is interrupted
     */
    public static HostCommand run(Path folder, List<String> command, Duration limit) throws IOException {
        Path output = Files.createTempFile("tenon-", ".out");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().put("LC_ALL", "C");
            Process process = builder.start();
            process.getOutputStream().close();
            try {
                if (!process.waitFor(limit)) {
                    throw new IOException(command.getFirst() + " took longer than " + limit.toSeconds() + " s");
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
