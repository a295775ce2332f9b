/** The CUDA backend: the ports to a GPU platform, kernels and their specs, the kernel cache. */
module dev.tenon.cuda {
    requires static org.jspecify;
    requires transitive dev.tenon.collective;
    requires transitive dev.tenon.core;
    requires dev.tenon.nativelib;

    exports dev.tenon.cuda.backend;
    exports dev.tenon.cuda.blas;
    exports dev.tenon.cuda.collective;
    exports dev.tenon.cuda.compile;
    exports dev.tenon.cuda.driver;
    exports dev.tenon.cuda.kernel;
    exports dev.tenon.cuda.lower;
    exports dev.tenon.cuda.platform;
    exports dev.tenon.cuda.port;
    exports dev.tenon.cuda.store;
    exports dev.tenon.cuda.timing;

    uses dev.tenon.core.backend.Backend;
    uses dev.tenon.cuda.compile.PtxBundle;
    uses dev.tenon.cuda.port.GpuPlatform;

    provides dev.tenon.core.backend.Backend with
            dev.tenon.cuda.backend.CudaBackend;
    provides dev.tenon.cuda.port.GpuPlatform with
            dev.tenon.cuda.platform.CudaPlatform;
}
