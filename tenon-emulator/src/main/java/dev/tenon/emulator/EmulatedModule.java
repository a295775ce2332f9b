package dev.tenon.emulator;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.compile.Workshop;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.nativelib.emulated.EntryPoint;
import dev.tenon.nativelib.emulated.LoadedObject;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A kernel object in this process. Each load is a copy of its own, so that two modules of one image have globals of
 * their own, as on a GPU. Thread-safe.
 */
final class EmulatedModule implements GpuModule {
    private final EmulatedContext context;
    private final String source;
    private final Path file;
    private final LoadedObject object;
    private final Map<String, EmulatedFunction> functions = new ConcurrentHashMap<>();
    private boolean closed;

    EmulatedModule(EmulatedContext context, ModuleImage image) {
        this.context = context;
        source = image.name();
        file = Toolchain.write("kernel.so", image.bytes());
        object = Toolchain.loaded(file, () -> context.shared().library().load(file));
        if (object.entries().isEmpty() || object.sharedBytes() > Limits.SHARED) {
            context.shared().library().unload(object);
            Workshop.delete(file);
            throw new NativeException("emulator: " + source
                    + (object.entries().isEmpty()
                            ? " announces no kernel; add TENON_ENTRY(name) behind each"
                            : " has " + object.sharedBytes() + " bytes of static shared memory; at most "
                                    + Limits.SHARED));
        }
    }

    @Override
    public synchronized GpuFunction function(String name) {
        if (closed) {
            throw new ClosedException("the module of " + source + " is closed");
        }
        EntryPoint entry = object.entries().get(name);
        if (entry == null) {
            throw new NativeException("emulator: " + source + " has no kernel " + name + "; it announces "
                    + object.entries().keySet());
        }
        return functions.computeIfAbsent(name, _ -> new EmulatedFunction(this, entry));
    }

    LoadedObject object() {
        return object;
    }

    Path file() {
        return file;
    }

    /** The object, for a launch. @throws ClosedException after close */
    synchronized LoadedObject running() {
        if (closed) {
            throw new ClosedException("the module of " + source + " is closed");
        }
        return object;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            context.forget(this);
            context.shared().library().unload(object);
            Workshop.delete(file);
        }
    }
}
