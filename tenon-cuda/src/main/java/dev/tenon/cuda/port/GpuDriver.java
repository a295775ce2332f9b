package dev.tenon.cuda.port;

import java.util.List;

/** A GPU platform. Making one loads nothing; the first call probes, and the answer is kept. Thread-safe. */
public interface GpuDriver {
    /** {@code cuda} or {@code emulator}. */
    String platform();

    /** One line that says why there is no device, and what would help; empty where there is one. Never throws. */
    String unavailable();

    /** The version of the driver in the maker's form, {@code 13.0}; empty where there is none. */
    String version();

    /** The devices there are; empty where {@link #unavailable()} says why. Never throws. */
    List<DeviceProperties> devices();

    /**
     * Opens a device. Contexts of one device share its primary context; each counts on its own, and the last to close
     * releases it.
     *
     * @throws dev.tenon.core.error.UnsupportedException when there is none of that number
     * @throws dev.tenon.core.error.NativeException when the driver refuses
     */
    GpuContext open(int ordinal);
}
