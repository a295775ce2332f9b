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
import java.util.List;
import java.util.regex.Pattern;

/** Puts every kernel that is not generated into this artifact, as PTX and as machine code; Maven runs it. */
public final class BuildPtx {
    private static final List<Architecture> USUAL = List.of(new Architecture(8, 0), new Architecture(9, 0));

    private BuildPtx() {}

    /** The kernels that can be built ahead and whose file and variant ({@code norm/layernorm_warp.cu_f32}) match. */
    static List<KernelSource> sources(Pattern wanted) {
        return sources(wanted, false);
    }

    /** @param specific those for one capability alone, or those for all */
    private static List<KernelSource> sources(Pattern wanted, boolean specific) {
        return KernelCatalog.all().stream()
                .flatMap(file -> file.variants().stream()
                        // those with generated headers are samples
                        .filter(variant -> variant.headers().isEmpty() && variant.isSpecific() == specific)
                        .filter(variant ->
                                wanted.matcher(file.path() + variant.suffix()).matches())
                        .map(file::source))
                .toList();
    }

    /**
     * Builds.
     *
     * @param args the folder to fill; what for: {@code none}, architectures with commas, {@code 80} for PTX and
     *     {@code sm_80} or {@code sm_90a} for machine code, for which there must then be an nvcc, or {@code auto} for
     *     the usual ones where there is; and a pattern that says which kernels, all by default
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
        List<String> named = auto ? List.of() : List.of(wanted.split(","));
        List<Architecture> ptx = auto ? USUAL : architectures(named, false);
        List<Architecture> machineCode = architectures(named, true);
        long start = System.nanoTime();
        Pattern kernels = Pattern.compile(args.length > 2 ? args[2] : ".*");
        List<KernelSource> sources = sources(kernels);
        List<KernelSource> specific =
                machineCode.stream().anyMatch(Architecture::specific) ? sources(kernels, true) : List.of();
        PtxBuilder.build(sources, specific, ptx, machineCode, nvcc, KernelCache.standard(), folder);
        System.out.println(folder + ": " + (sources.size() + specific.size()) + " kernel files, PTX for " + ptx
                + ", machine code for " + machineCode + ", by " + nvcc.name() + ", in "
                + (System.nanoTime() - start) / 1_000_000_000 + " s");
    }

    /** Of machine code those named {@code sm_90}, of PTX those named {@code 90}. */
    private static List<Architecture> architectures(List<String> named, boolean machineCode) {
        return named.stream()
                .filter(name -> name.startsWith("sm_") == machineCode)
                .map(Architecture::parse)
                .toList();
    }

    private static void nothing(Path folder, String reason) throws IOException {
        PtxBuilder.buildNothing(folder, reason);
        System.out.println(folder + ": NO PTX: " + reason);
    }
}
