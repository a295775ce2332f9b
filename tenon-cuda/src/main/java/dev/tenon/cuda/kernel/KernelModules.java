package dev.tenon.cuda.kernel;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.timing.StartUp;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The kernels of one context, each file's variant compiled and loaded on its first use and kept until close. Thread-safe; a module is made once, other threads that want it wait.
 */
public final class KernelModules implements AutoCloseable {
    private final GpuContext context;
    private final KernelCompiler compiler;
    private final Architecture architecture;
    private final Map<String, GpuModule> modules = new ConcurrentHashMap<>();
    private final Map<String, GpuFunction> functions = new ConcurrentHashMap<>();

    public KernelModules(GpuContext context, KernelCompiler compiler) {
        this.context = context;
        this.compiler = compiler;
        this.architecture = context.device().architecture();
    }

    public GpuContext context() {
        return context;
    }

    /**
     * An entry of a file's variant.
     *
     * @throws NativeException when the source does not compile or the driver refuses it
     */
    public GpuFunction function(KernelFile file, String entry, KernelVariant variant) {
        String name = file.entry(entry).nameIn(variant);
        GpuFunction known = functions.get(name);
        return known != null
                ? known
                : functions.computeIfAbsent(name, _ -> module(file, variant).function(name));
    }

    /** Compiles and loads a file's variant if that has not been done yet. */
    private GpuModule module(KernelFile file, KernelVariant variant) {
        return modules.computeIfAbsent(
                file.path() + variant.suffix(),
                _ -> StartUp.loading(() -> compiler.load(context, file.source(variant), architecture)));
    }

    /** Unloads all modules; none of their functions may still run. */
    @Override
    public void close() {
        functions.clear();
        modules.values().forEach(GpuModule::close);
        modules.clear();
    }
}
