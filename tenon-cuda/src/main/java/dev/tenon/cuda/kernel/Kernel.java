package dev.tenon.cuda.kernel;

import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.GpuFunction;
import org.jspecify.annotations.Nullable;

/** An entry of a file's variant as prepared launches hold it; its code may come after it. Thread-safe. */
public final class Kernel {
    private final KernelFile file;
    private final String entry;
    private final KernelVariant variant;
    private final int sharedBytes;
    private final String module;
    private volatile @Nullable GpuFunction function;

    /** One without code yet. */
    Kernel(KernelFile file, String entry, KernelVariant variant, int sharedBytes) {
        this.file = file;
        this.entry = entry;
        this.variant = variant;
        this.sharedBytes = sharedBytes;
        this.module = KernelModules.key(file, variant);
    }

    /** What its module is known by. */
    String module() {
        return module;
    }

    /** Its name in its module. */
    String name() {
        return file.entry(entry).nameIn(variant);
    }

    KernelFile file() {
        return file;
    }

    KernelVariant variant() {
        return variant;
    }

    /** Takes its code out of a module of its file and variant. */
    void bind(KernelModules modules) {
        GpuFunction found = modules.function(this);
        if (sharedBytes > 0) {
            found.allowSharedBytes(sharedBytes);
        }
        function = found;
    }

    /** What is launched. @throws IllegalStateException where nobody has waited for its code */
    public GpuFunction function() {
        GpuFunction bound = function;
        if (bound == null) {
            throw new IllegalStateException(entry + variant.suffix() + " of " + file.path() + " has no code yet");
        }
        return bound;
    }
}
