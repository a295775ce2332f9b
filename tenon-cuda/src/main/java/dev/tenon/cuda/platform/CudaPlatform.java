package dev.tenon.cuda.platform;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.compile.KernelCompilers;
import dev.tenon.cuda.driver.CudaDriver;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.KernelCompiler;

/** libcuda; NVRTC, prebuilt PTX or nvcc, behind the cache. */
public final class CudaPlatform implements GpuPlatform {
    private final CudaDriver driver = new CudaDriver();
    private final Lazy<KernelCompiler> compiler = new Lazy<>() {
        @Override
        protected KernelCompiler make() {
            return KernelCompilers.cuda(KernelCache.standard(), driver::version);
        }
    };

    /** Loads nothing. */
    public CudaPlatform() {}

    @Override
    public String name() {
        return "cuda";
    }

    @Override
    public GpuDriver driver() {
        return driver;
    }

    @Override
    public boolean takesLibraries() {
        return true;
    }

    @Override
    public KernelCompiler compiler() {
        return compiler.get();
    }
}
