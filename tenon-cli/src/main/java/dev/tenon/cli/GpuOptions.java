package dev.tenon.cli;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import picocli.CommandLine.Option;

/** Which GPU platform and device. */
final class GpuOptions {
    @Option(
            names = "--device",
            paramLabel = "D",
            defaultValue = "cuda",
            description = "cuda (the default), cuda:N or emulator.")
    String device = "cuda";

    GpuPlatform platform() {
        return GpuPlatforms.named(device.contains(":") ? device.substring(0, device.indexOf(':')) : device);
    }

    /** Opens the device and makes sure that there is a compiler. */
    GpuContext open(GpuPlatform platform) {
        GpuContext context = platform.driver().open(ordinal());
        String missing = platform.compiler().unavailable();
        if (!missing.isEmpty()) {
            context.close();
            throw new UnsupportedException(device + ": no kernel can be compiled: " + missing);
        }
        return context;
    }

    private int ordinal() {
        int colon = device.indexOf(':');
        try {
            return colon < 0 ? 0 : Integer.parseInt(device.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw new InputException("device \"" + device + "\": expected the form cuda:1", e);
        }
    }
}
