package dev.tenon.cuda.ptx;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.compile.NvccCompiler;
import dev.tenon.cuda.compile.PtxBuilder;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Puts the PTX of every kernel that is not generated into this artifact; Maven runs it. */
public final class BuildPtx {
    private static final List<Architecture> USUAL = List.of(new Architecture(8, 0));

    private BuildPtx() {}

    /** The kernels that can be built ahead. */
    static List<KernelSource> sources() {
        return KernelCatalog.all().stream()
                .flatMap(file -> file.variants().stream()
                        .filter(variant -> variant.headers().isEmpty()) // those with generated headers are samples
                        .map(file::source))
                .toList();
    }

    /**
     * Builds.
     *
     * @param args the folder to fill, and what to put there: {@code auto}, {@code none}, or architectures with commas, for which there must then be an nvcc
     * @throws UnsupportedException when architectures are asked for and there is no nvcc
     */
    public static void main(String... args) throws IOException {
        Path folder = Path.of(args[0]);
        String wanted = args[1];
        NvccCompiler nvcc = new NvccCompiler();
        boolean auto = wanted.equals("auto");
        String missing = wanted.equals("none") ? "the build was told not to make any" : nvcc.unavailable();
        if (!missing.isEmpty()) {
            if (!auto && !wanted.equals("none")) {
                throw new UnsupportedException("PTX for " + wanted + " cannot be built: " + missing);
            }
            PtxBuilder.buildNothing(folder, "it was built without nvcc (" + missing + ")");
            System.out.println("tenon-cuda-ptx holds NO PTX: " + missing);
            return;
        }
        List<Architecture> architectures = auto
                ? USUAL
                : Arrays.stream(wanted.split(",")).map(Architecture::parse).toList();
        long start = System.nanoTime();
        List<KernelSource> sources = sources();
        PtxBuilder.build(sources, architectures, nvcc, KernelCache.standard(), folder);
        System.out.println("tenon-cuda-ptx holds " + sources.size() + " kernel files for " + architectures + ", by "
                + nvcc.name() + ", in " + (System.nanoTime() - start) / 1_000_000_000 + " s");
    }
}
