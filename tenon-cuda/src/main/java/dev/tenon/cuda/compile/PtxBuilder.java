package dev.tenon.cuda.compile;

import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Fills the folder that {@link PrebuiltPtx} reads. */
public final class PtxBuilder {
    private PtxBuilder() {}

    /**
     * Compiles every source to PTX for every architecture, and writes the index last.
     *
     * @param architectures the oldest that is to be served, and those with better code of their own
     */
    public static void build(
            Iterable<KernelSource> sources, List<Architecture> architectures, NvccCompiler nvcc, Path folder)
            throws IOException {
        Files.createDirectories(folder);
        List<String> index = new ArrayList<>();
        for (KernelSource source : sources) {
            String key = PrebuiltPtx.key(source);
            for (Architecture architecture : architectures) {
                ModuleImage image = nvcc.ptx(source, architecture);
                byte[] text = image.bytes().toArray(ValueLayout.JAVA_BYTE);
                int end = text.length > 0 && text[text.length - 1] == 0 ? text.length - 1 : text.length;
                Files.write(folder.resolve(key + "." + architecture.compute() + ".ptx"), Arrays.copyOf(text, end));
                index.add(key + " " + architecture.compute());
            }
        }
        Files.write(folder.resolve(PrebuiltPtx.INDEX), index);
    }
}
