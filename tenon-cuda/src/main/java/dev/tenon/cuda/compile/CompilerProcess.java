package dev.tenon.cuda.compile;

import dev.tenon.core.error.NativeException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A compiler that is a program. */
final class CompilerProcess {
    private static final int MINUTES = 10;

    /** @param output standard output and standard error as they came */
    record Result(int code, String output) {}

    private CompilerProcess() {}

    /** @throws NativeException when it cannot be started, takes too long, or the thread is interrupted */
    static Result run(List<String> command) {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new NativeException(command.getFirst() + " cannot be started: " + e.getMessage(), e);
        }
        Thread watch = Thread.ofVirtual().start(() -> {
            try {
                if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException _) {
                // the reader below has its end
            }
        });
        try {
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), output);
        } catch (IOException e) {
            throw new NativeException(command.getFirst() + ": its output cannot be read: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NativeException(command.getFirst() + ": interrupted", e);
        } finally {
            process.destroyForcibly();
            watch.interrupt();
        }
    }
}
