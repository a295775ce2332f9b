package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Streams for one transfer each, outside of sessions. Thread-safe. */
final class PassingStreams implements AutoCloseable {
    private final GpuContext context;
    /** Those that could not be closed after their transfer. Guarded by itself. */
    private final List<GpuStream> unclosed = new ArrayList<>();

    PassingStreams(GpuContext context) {
        this.context = context;
    }

    /** Enqueues work on a stream of its own and waits for it. */
    void run(Consumer<GpuStream> work) {
        GpuStream stream = context.newStream();
        try {
            work.accept(stream);
            stream.synchronize();
        } catch (RuntimeException | Error e) {
            Closing.after(e, () -> close(stream)); // waits for what was enqueued
            throw e;
        }
        close(stream);
    }

    private void close(GpuStream stream) {
        try {
            stream.close();
        } catch (RuntimeException | Error e) {
            synchronized (unclosed) {
                unclosed.add(stream);
            }
            throw e;
        }
    }

    /** Idempotent; a close that failed may be called again and goes on where it ended. */
    @Override
    public void close() {
        synchronized (unclosed) {
            Closing closing = new Closing();
            closing.each(unclosed, GpuStream::close);
            closing.end();
        }
    }
}
