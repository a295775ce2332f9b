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
import java.util.regex.Pattern;

/** Puts the PTX of every kernel that is not generated into this artifact; Maven runs it. */
public final class BuildPtx {
    private static final List<Architecture> USUAL = List.of(new Architecture(8, 0), new Architecture(9, 0));

    private BuildPtx() {}

    /** The kernels that can be built ahead and whose file and variant ({@code norm/layernorm_warp.cu_f32}) match. */
    static List<KernelSource> sources(Pattern wanted) {
        return KernelCatalog.all().stream()
                .flatMap(file -> file.variants().stream()
                        .filter(variant -> variant.headers().isEmpty()) // those with generated headers are samples
                        .filter(variant ->
                                wanted.matcher(file.path() + variant.suffix()).matches())
                        .map(file::source))
                .toList();
    }

    /**
     * Builds.
     *
     * @param args the folder to fill; what for: {@code none}, architectures with commas, for which there must then be
     *     an nvcc, or {@code auto} for the usual ones where there is; and a pattern that says which kernels, all by
     *     default
     * @throws UnsupportedException when architectures are asked for and there is no nvcc
     */
    public static void main(String... args) throws IOException {
        Path folder = Path.of(args[0]);
        String wanted = args[1];
        if (wanted.equals("none")) {
            nothing(folder, "it was built without -Dtenon.ptx=80,90");
            return;
        }
        NvccCompiler nvcc = new NvccCompiler();
        boolean auto = wanted.equals("auto");
        if (!nvcc.unavailable().isEmpty()) {
            if (!auto) {
                throw new UnsupportedException("PTX for " + wanted + " cannot be built: " + nvcc.unavailable());
            }
            nothing(folder, nvcc.unavailable());
            return;
        }
        List<Architecture> architectures = auto
                ? USUAL
                : Arrays.stream(wanted.split(",")).map(Architecture::parse).toList();
        long start = System.nanoTime();
        List<KernelSource> sources = sources(Pattern.compile(args.length > 2 ? args[2] : ".*"));
        PtxBuilder.build(sources, architectures, nvcc, KernelCache.standard(), folder);
        System.out.println(folder + ": " + sources.size() + " kernel files for " + architectures + ", by " + nvcc.name()
                + ", in " + (System.nanoTime() - start) / 1_000_000_000 + " s");
    }

    private static void nothing(Path folder, String reason) throws IOException {
        PtxBuilder.buildNothing(folder, reason);
        System.out.println(folder + ": NO PTX: " + reason);
    }
}
