/** The CPU backend. */
module dev.tenon.cpu {
    requires dev.tenon.core;
    requires jdk.incubator.vector;
    requires static org.jspecify;

    provides dev.tenon.core.runtime.spi.Backend with
            dev.tenon.cpu.CpuBackend;
}
