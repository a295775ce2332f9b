package dev.tenon.emulator;

import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.KernelCompiler;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The emulator as the environment configures it. Thread-safe. */
public final class EmulatorPlatform implements GpuPlatform {
    private record Parts(GpuDriver driver, KernelCompiler compiler) {}

    private final Supplier<EmulatorOptions> configured;
    private @Nullable Parts parts;

    /** Looks at nothing yet. */
    public EmulatorPlatform() {
        this(EmulatorOptions::standard);
    }

    /** As options say, whatever the environment does. */
    EmulatorPlatform(Supplier<EmulatorOptions> configured) {
        this.configured = configured;
    }

    @Override
    public String name() {
        return EmulatorDriver.PLATFORM;
    }

    /** @throws dev.tenon.core.error.InputException when a variable of the environment makes no sense */
    @Override
    public GpuDriver driver() {
        return parts().driver();
    }

    /** @throws dev.tenon.core.error.InputException when a variable of the environment makes no sense */
    @Override
    public KernelCompiler compiler() {
        return parts().compiler();
    }

    private synchronized Parts parts() {
        Parts known = parts;
        if (known == null) {
            EmulatorOptions options = configured.get();
            EmulatorDriver driver = new EmulatorDriver(options);
            known = new Parts(
                    driver,
                    new CachingCompiler(
                            new EmulatorCompiler(options.checked()), KernelCache.standard(), driver::version));
            parts = known;
        }
        return known;
    }
}
