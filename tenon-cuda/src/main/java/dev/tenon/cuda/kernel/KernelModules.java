package dev.tenon.cuda.kernel;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.LazyMap;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.cuda.timing.StartUp;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The kernels of one context, each file's variant compiled and loaded on its first use and kept until close.
 * Thread-safe; a module is made once, other threads that want it wait, those that want another do not.
 */
public final class KernelModules implements Kernels, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(KernelModules.class.getName());

    private final GpuContext context;
    private final KernelCompiler compiler;
    private final Architecture architecture;
    private final LazyMap<String, GpuModule> modules = new LazyMap<>();
    /** Of variants that were asked for: whether they can be loaded without a compiler. */
    private final LazyMap<String, Boolean> held = new LazyMap<>();

    /** What did not unload when it was to. */
    private final List<GpuModule> unclosed = new ArrayList<>();

    public KernelModules(GpuContext context, KernelCompiler compiler) {
        this.context = context;
        this.compiler = compiler;
        this.architecture = context.device().architecture();
    }

    @Override
    public GpuContext context() {
        return context;
    }

    @Override
    public boolean compilesSpecific() {
        return compiler.makesSpecific(architecture);
    }

    /** Compilers are asked once: what other processes compile later is not looked for. */
    @Override
    public boolean holds(KernelFile file, KernelVariant variant) {
        String key = key(file, variant);
        return modules.has(key) || held.get(key, () -> compiler.holds(file.source(variant), target(variant)));
    }

    /** Compiled and loaded when this returns. */
    @Override
    public Kernel kernel(KernelFile file, String entry, KernelVariant variant, int sharedBytes) {
        Kernel kernel = new Kernel(file, entry, variant, sharedBytes);
        kernel.bind(this);
        return kernel;
    }

    /**
     * An entry of a file's variant.
     *
     * @throws NativeException when the source does not compile or the driver refuses it
     */
    public GpuFunction function(KernelFile file, String entry, KernelVariant variant) {
        return module(file, variant).function(file.entry(entry).nameIn(variant));
    }

    /** The same of a kernel. */
    GpuFunction function(Kernel kernel) {
        return module(kernel.module(), kernel.file(), kernel.variant()).function(kernel.name());
    }

    /** Compiles and loads a file's variant if that has not been done yet; after a failure the next call tries again. */
    public GpuModule module(KernelFile file, KernelVariant variant) {
        return module(key(file, variant), file, variant);
    }

    private GpuModule module(String key, KernelFile file, KernelVariant variant) {
        return modules.get(
                key, () -> StartUp.loading(() -> compiler.load(context, file.source(variant), target(variant))));
    }

    /** Whether a module is loaded. */
    public boolean has(String module) {
        return modules.has(module);
    }

    /**
     * Loads compiled images of modules by name, several at a time. One that the driver refuses is passed over: it is
     * compiled when it is asked for.
     */
    public void load(Map<String, ModuleImage> images) {
        Map<String, Runnable> tasks = new LinkedHashMap<>();
        images.forEach((module, image) -> tasks.put(module, () -> modules.get(module, () -> loaded(image))));
        Map<String, Throwable> refused = ParallelLoads.run(context, tasks);
        refused.forEach((module, why) -> LOG.log(Level.DEBUG, "saved module " + module + " is passed over: " + why));
    }

    private GpuModule loaded(ModuleImage image) {
        return StartUp.loading(() -> {
            try {
                return context.load(image);
            } catch (ImageRejected e) {
                throw new UnsupportedException(String.valueOf(e.getMessage()), e);
            }
        });
    }

    /** Where the compiled image of a file's variant lies, which is loaded; null where it lies in no file. */
    @Nullable
    Path file(KernelFile file, KernelVariant variant) {
        return compiler.compile(file.source(variant), target(variant)).file();
    }

    private Architecture target(KernelVariant variant) {
        return variant.isSpecific() ? architecture.withSpecific() : architecture;
    }

    /** What tells modules apart. */
    static String key(KernelFile file, KernelVariant variant) {
        return file.path() + variant.suffix();
    }

    /**
     * Unloads all modules; none of their functions may still run. Waits for those that are being made. Idempotent; a
     * close that failed may be called again and goes on where it ended.
     */
    @Override
    public synchronized void close() {
        unclosed.addAll(modules.drain());
        Closing closing = new Closing();
        closing.each(unclosed, GpuModule::close);
        closing.end();
    }
}
