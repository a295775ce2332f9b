/** The CPU backend. */
module dev.tenon.cpu {
    requires dev.tenon.core;
    requires jdk.incubator.vector;
    requires static org.jspecify;

    provides dev.tenon.core.backend.Backend with
            dev.tenon.cpu.device.CpuBackend;
}
