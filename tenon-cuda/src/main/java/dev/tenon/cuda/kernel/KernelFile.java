package dev.tenon.cuda.kernel;

import dev.tenon.cuda.port.KernelSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A {@code .cu} file: its entries, and the variants that it compiles in. One variant of one file is one module.
 *
 * @param path under the kernels' root
 * @param entries all of them
 * @param variants all of them
 */
public record KernelFile(String path, List<KernelSpec> entries, List<KernelVariant> variants) {
    public KernelFile {
        entries = List.copyOf(entries);
        variants = List.copyOf(variants);
    }

    /** The entry of that name. */
    public KernelSpec entry(String name) {
        return entries.stream()
                .filter(spec -> spec.entry().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(path + " has no entry " + name));
    }

    /** What a compiler gets. */
    public KernelSource source(KernelVariant variant) {
        Map<String, String> headers = new TreeMap<>(KernelSources.headers());
        headers.putAll(variant.headers());
        return new KernelSource(path, KernelSources.text(path), headers, variant.allDefines());
    }
}
