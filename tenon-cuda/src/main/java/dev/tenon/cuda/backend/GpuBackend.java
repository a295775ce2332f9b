package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Device;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.Node;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.cuda.lower.GpuLowering;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.timing.Ceilings;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Supplier;

/** A GPU platform as a backend. The platform is looked up when it is first asked for something. Thread-safe. */
public abstract class GpuBackend implements Backend {
    private final String name;
    private final Supplier<GpuPlatform> platform;
    private final int preference;

    /** @param platform the name that {@link GpuPlatform#name()} says */
    protected GpuBackend(String platform, int preference) {
        this.name = platform;
        this.platform = () -> GpuPlatforms.named(platform);
        this.preference = preference;
    }

    /** Of a platform that need not be on the path. */
    protected GpuBackend(GpuPlatform platform, int preference) {
        this.name = platform.name();
        this.platform = () -> platform;
        this.preference = preference;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final int preference() {
        return preference;
    }

    private GpuDriver driver() {
        return platform.get().driver();
    }

    @Override
    public final List<DeviceInfo> devices() {
        if (!misconfigured().isEmpty()) {
            return List.of();
        }
        GpuDriver driver = driver();
        return driver.devices().stream().map(device -> info(driver, device)).toList();
    }

    @Override
    public final OptionalDouble measured(DeviceInfo device) {
        return Ceilings.of(device, Store.standard())
                .map(best -> OptionalDouble.of(best.fastGigaflops()))
                .orElseGet(OptionalDouble::empty);
    }

    static DeviceInfo info(GpuDriver driver, DeviceProperties device) {
        String detail = "compute capability " + device.architecture().major() + "."
                + device.architecture().minor() + ", "
                + device.multiprocessors() + " multiprocessors"
                + (driver.version().isEmpty() ? "" : ", driver " + driver.version());
        return new DeviceInfo(driver.platform(), device.ordinal(), device.name(), detail, device.memoryBytes());
    }

    @Override
    public final String unavailable() {
        String why = misconfigured();
        return why.isEmpty() ? driver().unavailable() : why;
    }

    /**
     * What is wrong in the environment: the platform's own question, so that one that cannot be set up does not take
     * the others with it.
     */
    private String misconfigured() {
        try {
            driver();
            return "";
        } catch (InputException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Override
    public final boolean claims(Node whole) {
        return claims(whole, Precision.STRICT);
    }

    @Override
    public final boolean claims(Node whole, Precision precision) {
        return GpuLowering.claims(whole, precision);
    }

    @Override
    public final boolean claimsAny() {
        return true;
    }

    @Override
    public final Device open(int ordinal, EngineOptions options) {
        return GpuDevice.open(platform.get(), ordinal, options);
    }
}
