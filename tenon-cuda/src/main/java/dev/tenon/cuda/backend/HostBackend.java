package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Device;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.Services;
import dev.tenon.core.options.EngineOptions;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * The CPU backend of one open GPU, for nodes that have no kernel: opened by the first of them with the threads that
 * the GPU was opened with, and closed with the GPU. Thread-safe.
 */
final class HostBackend implements AutoCloseable {
    private final EngineOptions options;
    private @Nullable Device device;

    /** @param options those of the GPU; its memory limit is of its own memory and does not bind the host's */
    HostBackend(EngineOptions options) {
        this.options = EngineOptions.defaults().withThreads(options.threads());
    }

    /**
     * The CPU, open.
     *
     * @param reason why it is wanted
     * @throws UnsupportedException with that reason where the backend is not on the path
     */
    synchronized Device device(String reason) {
        Device open = device;
        if (open == null) {
            open = backend(reason).open(0, options);
            device = open;
        }
        return open;
    }

    private static Backend backend(String reason) {
        return Services.all(ServiceLoader.load(Backend.class, Backend.class.getClassLoader())).stream()
                .filter(backend -> backend.name().equals("cpu"))
                .findFirst()
                .orElseThrow(() -> new UnsupportedException(reason + ", and the CPU backend is not on the path"));
    }

    /** Ends its threads. Idempotent. */
    @Override
    public synchronized void close() {
        if (device != null) {
            device.close();
            device = null;
        }
    }
}
