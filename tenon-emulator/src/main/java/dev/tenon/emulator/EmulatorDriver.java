package dev.tenon.emulator;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.timing.StartUp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Devices made of this host's threads and memory. Thread-safe. */
public final class EmulatorDriver implements GpuDriver {
    static final String PLATFORM = "emulator";

    private final EmulatorOptions options;
    private final Map<Integer, EmulatedDevice> open = new HashMap<>();

    public EmulatorDriver(EmulatorOptions options) {
        this.options = options;
    }

    @Override
    public String platform() {
        return PLATFORM;
    }

    @Override
    public String unavailable() {
        return Toolchain.unavailable();
    }

    @Override
    public String version() {
        return unavailable().isEmpty() ? "1.0" : "";
    }

    @Override
    public List<DeviceProperties> devices() {
        return unavailable().isEmpty()
                ? IntStream.range(0, options.devices())
                        .mapToObj(ordinal -> Limits.properties(ordinal, options))
                        .toList()
                : List.of();
    }

    @Override
    public GpuContext open(int ordinal) {
        if (!unavailable().isEmpty()) {
            throw new UnsupportedException(unavailable());
        }
        if (ordinal < 0 || ordinal >= options.devices()) {
            throw new UnsupportedException("emulator:" + ordinal + " does not exist; there "
                    + (options.devices() == 1 ? "is 1 device" : "are " + options.devices() + " devices")
                    + " (TENON_EMULATOR_DEVICES)");
        }
        return StartUp.opening(() -> context(ordinal));
    }

    private GpuContext context(int ordinal) {
        synchronized (open) {
            EmulatedDevice device = open.get(ordinal);
            if (device == null || !device.retain()) {
                device = new EmulatedDevice(Toolchain.get().library(), options, Limits.properties(ordinal, options));
                open.put(ordinal, device);
            }
            return new EmulatedContext(device);
        }
    }
}
