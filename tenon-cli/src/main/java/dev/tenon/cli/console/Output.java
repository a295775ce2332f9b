package dev.tenon.cli.console;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A stream that keeps the first fault of writing: a {@link PrintWriter} over it says only that there was one. */
public final class Output extends FilterOutputStream {
    private @Nullable IOException fault;

    public Output(OutputStream to) {
        super(to);
    }

    /** Writes a text to a file. @throws IOException naming it */
    public static void write(Path file, String text) throws IOException {
        try {
            Files.writeString(file, text);
        } catch (FileSystemException e) {
            throw e.getReason() == null ? e : unwritten(file, e.getReason(), e);
        } catch (IOException e) {
            throw unwritten(file, e.getMessage(), e);
        }
    }

    private static IOException unwritten(Path file, @Nullable String why, IOException cause) {
        return new IOException(file + " cannot be written: " + why, cause);
    }

    /** What went wrong; empty when nothing did, or when nobody reads on, as {@code head} does once it has its lines. */
    public String fault() {
        String message = fault == null ? "" : String.valueOf(fault.getMessage());
        return message.contains("Broken pipe") ? "" : message;
    }

    @Override
    public void write(int b) throws IOException {
        keeping(() -> out.write(b));
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        keeping(() -> out.write(bytes, from, length));
    }

    @Override
    public void flush() throws IOException {
        keeping(out::flush);
    }

    private interface Writing {
        void run() throws IOException;
    }

    private void keeping(Writing writing) throws IOException {
        try {
            writing.run();
        } catch (IOException e) {
            fault = fault == null ? e : fault;
            throw e;
        }
    }
}
