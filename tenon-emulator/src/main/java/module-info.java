/**
 * A GPU platform made of CPU threads: the same kernel sources built by the host's C++ compiler, behind the CUDA
 * backend's ports.
 */
@SuppressWarnings("module") // the module named in a qualified export is compiled after this one
module dev.tenon.emulator {
    requires static org.jspecify;
    requires transitive dev.tenon.cuda;
    requires dev.tenon.nativelib;

    exports dev.tenon.emulator to
            dev.tenon.cli;

    provides dev.tenon.core.backend.Backend with
            dev.tenon.emulator.EmulatorBackend;
    provides dev.tenon.cuda.port.GpuPlatform with
            dev.tenon.emulator.EmulatorPlatform;
}
