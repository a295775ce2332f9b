package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.ModuleImage;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * PTX that is newer than the driver is followed by machine code, once, or by an error that names both versions (case
 * PC-03 d).
 */
class RejectedImageTest {
    private static final Architecture SM_80 = new Architecture(8, 0);

    private final List<ModuleImage.Format> loads = new ArrayList<>();
    private final CountingCompiler ptx = new CountingCompiler("13.9", ModuleImage.Format.PTX);
    private final CountingCompiler machineCode = new CountingCompiler("12.0", ModuleImage.Format.CUBIN);

    @Test
    void theNextCompilersImageIsTried() {
        KernelCompilers compilers = new KernelCompilers(List.of(ptx, machineCode));
        try (GpuModule module = compilers.load(driver(false), CountingCompiler.source("a.cu"), SM_80)) {
            assertThat(module).isNotNull();
        }
        assertThat(loads).containsExactly(ModuleImage.Format.PTX, ModuleImage.Format.CUBIN);
    }

    @Test
    void whenAllAreRejectedTheErrorNamesThem() {
        KernelCompilers compilers = new KernelCompilers(List.of(ptx, machineCode));
        assertThatThrownBy(() -> compilers.load(driver(true), CountingCompiler.source("a.cu"), SM_80))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("a.cu")
                .hasMessageContaining("counting 13.9")
                .hasMessageContaining("counting 12.0")
                .hasMessageContaining("driver 12.2");
        assertThat(loads).hasSize(2);
        assertThatThrownBy(() -> ptx.load(driver(true), CountingCompiler.source("a.cu"), SM_80))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("counting 13.9");
    }

    /** A context that takes machine code at most. */
    private GpuContext driver(boolean nothing) {
        GpuModule module = (GpuModule) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {GpuModule.class}, (_, _, _) -> null);
        return (GpuContext) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {GpuContext.class}, (_, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("load");
                    ModuleImage image = (ModuleImage) arguments[0];
                    loads.add(image.format());
                    if (nothing || image.format() == ModuleImage.Format.PTX) {
                        throw new ImageRejected("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222), driver 12.2");
                    }
                    return module;
                });
    }
}
