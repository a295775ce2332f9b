package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Device;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.core.lazy.Services;
import dev.tenon.core.options.EngineOptions;
import java.util.Optional;
import java.util.ServiceLoader;

/** The CPU backend, for nodes that have no kernel: one for all devices, open for as long as the JVM. */
final class HostBackend {
    private static final Lazy<Optional<Device>> DEVICE = new Lazy<>() {
        @Override
        protected Optional<Device> make() {
            return find();
        }
    };

    private HostBackend() {}

    private static Optional<Device> find() {
        return Services.all(ServiceLoader.load(Backend.class, Backend.class.getClassLoader())).stream()
                .filter(backend -> backend.name().equals("cpu"))
                .findFirst()
                .map(backend -> backend.open(0, EngineOptions.defaults()));
    }

    /**
     * The CPU, open.
     *
     * @param reason why it is wanted
     * @throws UnsupportedException with that reason where the backend is not on the path
     */
    static Device device(String reason) {
        return DEVICE.get()
                .orElseThrow(() -> new UnsupportedException(reason + ", and the CPU backend is not on the path"));
    }
}
