package dev.tenon.cuda.driver;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.timing.StartUp;
import dev.tenon.nativelib.DriverVersion;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.cuda.CuDevice;
import dev.tenon.nativelib.cuda.CuLibrary;
import dev.tenon.nativelib.cuda.CuStatus;
import java.util.List;

/** NVIDIA's GPUs through the driver's library. Thread-safe; all instances see the same devices. */
public final class CudaDriver implements GpuDriver {
    /** What the first look found: the devices, or why there are none. */
    private record Probe(List<DeviceProperties> devices, String unavailable) {}

    private static final Lazy<Probe> PROBE = new Lazy<>() {
        @Override
        protected Probe make() {
            return StartUp.opening(CudaDriver::look);
        }
    };

    /** Looks for nothing yet. */
    public CudaDriver() {}

    @Override
    public String platform() {
        return "cuda";
    }

    @Override
    public String unavailable() {
        return PROBE.get().unavailable();
    }

    @Override
    public String version() {
        int version = CuLibrary.version();
        return version == 0 ? "" : DriverVersion.text(version);
    }

    @Override
    public List<DeviceProperties> devices() {
        return PROBE.get().devices();
    }

    @Override
    public GpuContext open(int ordinal) {
        Probe probe = PROBE.get();
        if (!probe.unavailable().isEmpty()) {
            throw new UnsupportedException("cuda:" + ordinal + ": " + probe.unavailable());
        }
        if (ordinal < 0 || ordinal >= probe.devices().size()) {
            throw new UnsupportedException("cuda:" + ordinal + ": there is no such device; expected 0 to "
                    + (probe.devices().size() - 1));
        }
        return StartUp.opening(() -> new CudaContext(probe.devices().get(ordinal)));
    }

    private static Probe look() {
        LibrarySearch search = CuLibrary.search();
        if (search.found() == null) {
            return new Probe(List.of(), search.reason());
        }
        try {
            int status = CuDevice.cuInit(0);
            if (status != 0) {
                return new Probe(List.of(), initFault(status));
            }
            List<DeviceProperties> devices = DeviceList.read();
            return devices.isEmpty()
                    ? new Probe(List.of(), "the driver sees no device" + hidden())
                    : new Probe(devices, "");
        } catch (RuntimeException e) {
            return new Probe(List.of(), "the driver could not be asked: " + e.getMessage());
        }
    }

    private static String initFault(int status) {
        return CuStatus.CHECK.message(status, "cuInit()")
                + switch (status) {
                    case CuStatus.NO_DEVICE -> hidden();
                    case CuStatus.STUB_LIBRARY -> "; this is the toolkit's stub for linking: install the NVIDIA driver";
                    default -> "; nvidia-smi shows whether the driver and its kernel module agree";
                };
    }

    private static String hidden() {
        String visible = System.getenv("CUDA_VISIBLE_DEVICES");
        return visible == null ? "" : "; CUDA_VISIBLE_DEVICES is \"" + visible + "\"";
    }
}
