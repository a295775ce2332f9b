package dev.tenon.cuda.kernel.file;

import dev.tenon.cuda.port.KernelSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A {@code .cu} file: its entries, and the variants that it compiles in. One variant of one file is one module.
 *
 * @param path under the kernels' root
 * @param entries all of them
 * @param variants all of them
 * @param own the source of a file that is not one of ours; null for ours, whose source is a resource
 */
public record KernelFile(
        String path,
        List<KernelSpec> entries,
        List<KernelVariant> variants,
        @Nullable String own) {
    public KernelFile {
        entries = List.copyOf(entries);
        variants = List.copyOf(variants);
    }

    /** One of ours. */
    public KernelFile(String path, List<KernelSpec> entries, List<KernelVariant> variants) {
        this(path, entries, variants, null);
    }

    /** The entry of that name. */
    public KernelSpec entry(String name) {
        for (KernelSpec spec : entries) {
            if (spec.entry().equals(name)) {
                return spec;
            }
        }
        throw new IllegalArgumentException(path + " has no entry " + name);
    }

    /** What a compiler gets. */
    public KernelSource source(KernelVariant variant) {
        String text = own == null ? KernelSources.text(path) : own;
        List<String> texts = new ArrayList<>(variant.headers().values());
        texts.add(text);
        // how a user's source writes its includes is not known
        Map<String, String> ours = own == null ? KernelSources.includedBy(texts) : KernelSources.headers();
        Map<String, String> headers = new TreeMap<>(ours);
        headers.putAll(variant.headers());
        return new KernelSource(path, text, headers, variant.allDefines());
    }
}
