/** The CUDA backend: the ports to a GPU platform, kernels and their specs, the kernel cache. */
@SuppressWarnings("module") // the modules named in qualified exports are compiled after this one
module dev.tenon.cuda {
    requires static org.jspecify;
    requires transitive dev.tenon.collective;
    requires transitive dev.tenon.core;
    requires dev.tenon.nativelib;

    exports dev.tenon.cuda.backend to
            dev.tenon.cuda.ptx,
            dev.tenon.emulator;
    exports dev.tenon.cuda.blas to
            dev.tenon.cuda.check;
    exports dev.tenon.cuda.dnn to
            dev.tenon.cuda.check;
    exports dev.tenon.cuda.collective;
    exports dev.tenon.cuda.compile to
            dev.tenon.cli,
            dev.tenon.cuda.check,
            dev.tenon.cuda.ptx,
            dev.tenon.emulator;
    exports dev.tenon.cuda.driver to
            dev.tenon.cli,
            dev.tenon.cuda.check;
    exports dev.tenon.cuda.kernel to
            dev.tenon.cli,
            dev.tenon.cuda.check,
            dev.tenon.cuda.ptx,
            dev.tenon.emulator;
    exports dev.tenon.cuda.kernel.file to
            dev.tenon.cli,
            dev.tenon.cuda.check,
            dev.tenon.cuda.ptx,
            dev.tenon.emulator;
    exports dev.tenon.cuda.lower to
            dev.tenon.cuda.check;
    exports dev.tenon.cuda.lower.step to
            dev.tenon.cuda.check;
    exports dev.tenon.cuda.platform;
    exports dev.tenon.cuda.port;
    exports dev.tenon.cuda.store to
            dev.tenon.cli,
            dev.tenon.emulator;
    exports dev.tenon.cuda.timing to
            dev.tenon.cli,
            dev.tenon.cuda.check,
            dev.tenon.emulator;
    exports dev.tenon.cuda.tuning to
            dev.tenon.cuda.check,
            dev.tenon.emulator;

    uses dev.tenon.core.backend.Backend;
    uses dev.tenon.cuda.compile.PtxBundle;
    uses dev.tenon.cuda.port.GpuPlatform;

    provides dev.tenon.core.backend.Backend with
            dev.tenon.cuda.backend.CudaBackend;
    provides dev.tenon.cuda.port.GpuPlatform with
            dev.tenon.cuda.platform.CudaPlatform;
}
