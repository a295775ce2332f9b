package dev.tenon.cli.console;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.runtime.Target;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import picocli.CommandLine.Option;

/** Which GPU platform and device. */
public final class GpuOptions {
    @Option(
            names = "--device",
            paramLabel = "D",
            defaultValue = "cuda",
            converter = Values.GpuDevice.class,
            description = "cuda (the default), cuda:N or emulator.")
    public String device = "cuda";

    public GpuPlatform platform() {
        return GpuPlatforms.named(target().backend());
    }

    /** Opens the device and makes sure that there is a compiler. */
    public GpuContext open(GpuPlatform platform) {
        return open(platform, target());
    }

    /** Opens that device and makes sure that there is a compiler. */
    public static GpuContext open(GpuPlatform platform, Target target) {
        GpuContext context = platform.driver().open(target.ordinal());
        String missing = platform.compiler().unavailable();
        if (!missing.isEmpty()) {
            context.close();
            throw new UnsupportedException(target + ": no kernel can be compiled: " + missing);
        }
        return context;
    }

    private Target target() {
        return Target.parse(device);
    }
}
