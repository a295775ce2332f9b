package dev.tenon.cuda.compile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A compiler or another command of this host that ran to its end.
 *
 * @param status its exit status
 * @param output both of its streams
 */
public record HostCommand(int status, String output) {
    /** How long a command has to delete its own temporary files before it is killed. */
    private static final Duration GRACE = Duration.ofMillis(500);

    private static final Set<Process> RUNNING = new HashSet<>();
    private static boolean ending;

    /**
     * Runs it in a folder, with messages in English, since we read them too. It does not outlive this process.
     *
     * @throws IOException when it cannot be started, takes longer than the limit, or the thread is interrupted
     * @throws dev.tenon.core.error.NativeException when there is no room for temporary files
     */
    public static HostCommand run(Path folder, List<String> command, Duration limit) throws IOException {
        Path output = Workshop.fresh("output");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().put("LC_ALL", "C");
            Process process = start(builder);
            try {
                process.getOutputStream().close();
                if (!process.waitFor(limit)) {
                    throw new IOException(command.getFirst() + " took longer than " + limit.toSeconds() + " s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while " + command.getFirst() + " ran", e);
            } finally {
                if (process.isAlive()) {
                    stop(List.of(process));
                }
                synchronized (RUNNING) {
                    RUNNING.remove(process);
                }
            }
            return new HostCommand(process.exitValue(), new String(Files.readAllBytes(output), StandardCharsets.UTF_8));
        } finally {
            Files.deleteIfExists(output);
        }
    }

    private static Process start(ProcessBuilder builder) throws IOException {
        synchronized (RUNNING) {
            if (ending) {
                throw new IOException("this process is ending");
            }
            Process process = builder.start();
            RUNNING.add(process);
            return process;
        }
    }

    /** Ends all that run, and lets none start any more: when this process ends. */
    static void stopAll() {
        List<Process> running;
        synchronized (RUNNING) {
            ending = true;
            running = List.copyOf(RUNNING);
        }
        stop(running);
    }

    /** With what they started: a compiler's driver does not end its passes. */
    private static void stop(List<Process> processes) {
        List<ProcessHandle> all = processes.stream()
                .flatMap(process -> Stream.concat(Stream.of(process.toHandle()), process.descendants()))
                .toList();
        all.forEach(ProcessHandle::destroy);
        long until = System.nanoTime() + GRACE.toNanos();
        while (all.stream().anyMatch(ProcessHandle::isAlive) && System.nanoTime() < until) {
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
        }
        all.forEach(ProcessHandle::destroyForcibly);
    }
}
