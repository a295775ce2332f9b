package dev.tenon.cuda.compile;

import dev.tenon.core.lazy.LazyMap;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.cuda.timing.StartUp;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A compiler with the cache on disk before it. Threads of one process that want the same image at the same time share
 * one compilation. Thread-safe.
 */
public final class CachingCompiler implements KernelCompiler {
    private final KernelCompiler compiler;
    private final KernelCache cache;
    private final Supplier<String> driverVersion;
    private final LazyMap<String, ModuleImage> running = new LazyMap<>();
    private volatile @Nullable String fingerprint;

    /**
     * @param driverVersion goes into the keys of PTX, which a driver may refuse for its version; asked for when first
     *     needed
     */
    public CachingCompiler(KernelCompiler compiler, KernelCache cache, Supplier<String> driverVersion) {
        this.compiler = compiler;
        this.cache = cache;
        this.driverVersion = driverVersion;
    }

    @Override
    public String name() {
        return compiler.name();
    }

    @Override
    public String unavailable() {
        return compiler.unavailable();
    }

    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            known = compiler.fingerprint();
            fingerprint = known;
        }
        return known;
    }

    @Override
    public List<Architecture> architectures() {
        return compiler.architectures();
    }

    @Override
    public boolean makesSpecific(Architecture device) {
        return compiler.makesSpecific(device);
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        String key = key(source, architecture);
        try {
            return running.get(key, () -> cachedOrCompiled(key, source, architecture));
        } finally {
            running.remove(key); // the image is on disk, and its modules are kept by those who load them
        }
    }

    @Override
    public boolean isSlowToFind() {
        return compiler.isSlowToFind();
    }

    @Override
    public boolean holds(KernelSource source, Architecture architecture) {
        return cached(key(source, architecture), source).isPresent();
    }

    private Optional<ModuleImage> cached(String key, KernelSource source) {
        return cache.read(key, source.name()).or(() -> cache.read(ofPtx(key), source.name()));
    }

    private String ofPtx(String key) {
        return new Hash().add(key).add(driverVersion.get()).hex();
    }

    private ModuleImage cachedOrCompiled(String key, KernelSource source, Architecture architecture) {
        Optional<ModuleImage> cached = cached(key, source);
        if (cached.isPresent()) {
            return cached.get();
        }
        ModuleImage image = StartUp.compiling(() -> compiler.compile(source, architecture));
        return cache.write(image.format() == ModuleImage.Format.PTX ? ofPtx(key) : key, image);
    }

    /** All that decides about the image. */
    String key(KernelSource source, Architecture architecture) {
        Hash hash = new Hash()
                .add(fingerprint())
                .add(architecture.toString())
                .add(source.name())
                .add(source.text());
        hash.add("headers " + source.headers().size());
        KernelSources.addTo(hash, source.headers());
        hash.add("defines " + source.defines().size());
        source.defines().forEach(hash::add);
        return hash.hex();
    }
}
