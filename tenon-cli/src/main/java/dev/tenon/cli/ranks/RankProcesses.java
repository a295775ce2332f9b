package dev.tenon.cli.ranks;

import dev.tenon.core.error.InputException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The processes of {@code tenon launch}. When this one is told to end, so are they. */
final class RankProcesses implements AutoCloseable {
    private static final int GRACE_SECONDS = 5;

    private final PrintWriter out;
    private final PrintWriter err;
    private final List<Process> processes = new ArrayList<>();
    private final List<Thread> pumps = new ArrayList<>();
    private final BlockingQueue<Integer> ended = new LinkedBlockingQueue<>();
    private final Thread hook = new Thread(this::endAll, "tenon-launch-end");

    RankProcesses(PrintWriter out, PrintWriter err) {
        this.out = out;
        this.err = err;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** @throws InputException when the command cannot be started; ranks that were are ended by {@link #close} */
    void start(List<String> command, int world, int port) {
        for (int rank = 0; rank < world; rank++) {
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment()
                    .putAll(Map.of(
                            "RANK", String.valueOf(rank),
                            "LOCAL_RANK", String.valueOf(rank),
                            "WORLD_SIZE", String.valueOf(world),
                            "LOCAL_WORLD_SIZE", String.valueOf(world),
                            "MASTER_ADDR", "127.0.0.1",
                            "MASTER_PORT", String.valueOf(port)));
            try {
                Process process = builder.start();
                synchronized (processes) {
                    processes.add(process);
                }
                process.getOutputStream().close(); // several cannot share one input
                pump(rank, process.getInputStream(), out);
                pump(rank, process.getErrorStream(), err);
                int own = rank;
                Thread.ofVirtual().start(() -> {
                    process.onExit().join();
                    ended.add(own);
                });
            } catch (IOException e) {
                throw new InputException("launch: rank " + rank + " cannot be started: " + e.getMessage(), e);
            }
        }
    }

    /** Waits for all; the exit code of the first that failed, or 0. */
    int await() throws InterruptedException {
        for (int left = processes.size(); left > 0; left--) {
            int rank = ended.take();
            int code = processes.get(rank).exitValue();
            if (code != 0) {
                endAll();
                drain();
                err.println("launch: rank " + rank + " ended with " + code
                        + (left > 1 ? "; the other ranks were ended" : ""));
                return code;
            }
        }
        drain();
        return 0;
    }

    private void drain() throws InterruptedException {
        for (Thread pump : pumps) {
            pump.join(TimeUnit.SECONDS.toMillis(GRACE_SECONDS)); // a grandchild may hold the pipe open
        }
    }

    private void pump(int rank, InputStream from, PrintWriter to) {
        pumps.add(Thread.ofPlatform().daemon().name("tenon-launch-" + rank).start(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    synchronized (to) {
                        to.println("[" + rank + "] " + line);
                        to.flush();
                    }
                }
            } catch (IOException | UncheckedIOException e) {
                // the process was ended
            }
        }));
    }

    /** Asks all that run to end, with what they have started, and makes them when they have not after some seconds. */
    private void endAll() {
        List<ProcessHandle> running;
        synchronized (processes) {
            // a shell before its child, whose end it would take for its turn to go on
            running = processes.stream()
                    .flatMap(process -> Stream.concat(Stream.of(process.toHandle()), process.descendants()))
                    .filter(ProcessHandle::isAlive)
                    .toList();
        }
        running.forEach(ProcessHandle::destroy);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(GRACE_SECONDS);
        for (ProcessHandle process : running) {
            try {
                process.onExit().get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (Exception e) {
                process.destroyForcibly();
            }
        }
    }

    @Override
    public void close() {
        endAll();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // this process is ending, and the hook at work
        }
    }
}
