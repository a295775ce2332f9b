package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.compile.NvccCompiler;
import dev.tenon.cuda.compile.NvrtcCompiler;
import dev.tenon.cuda.compile.ResourceReport;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Every kernel file compiles for real hardware, where a compiler is at hand, in one variant: to machine code those
 * with instructions of tensor cores, clusters and the like, to PTX the others, among them the long convolutions: from
 * there on it is ptxas alone, and as long again. {@code -Dtenon.kernels=all} takes all to machine code and adds a
 * second variant for an old architecture; {@code tenon kernels check} compiles all variants, which takes minutes.
 */
class KernelsCompileTest {
    private static final List<String> TO_MACHINE_CODE =
            List.of("attention/", "collective/", "contraction/", "softmax/");

    private static final Pattern ENTRY = Pattern.compile("\\.entry (\\w+)");

    @Test
    void forANewArchitectureAndAnOldOneIfAsked() {
        boolean old = "all".equals(System.getProperty("tenon.kernels"));
        KernelCompiler compiler = Stream.of(new NvrtcCompiler(), NvccCompiler.quick())
                .filter(one -> one.unavailable().isEmpty())
                .findFirst()
                .orElse(null);
        if (compiler == null) {
            System.out.println("kernels not compiled for GPUs: " + new NvrtcCompiler().unavailable() + "; "
                    + new NvccCompiler().unavailable());
        }
        Assumptions.assumeTrue(compiler != null, "neither NVRTC nor nvcc is here");
        List<Runnable> all = new ArrayList<>();
        for (KernelFile file : KernelCatalog.all()) {
            List<KernelVariant> few = file.variants().stream()
                    .filter(variant -> variant.dtype() == DType.BF16 || variant.dtype() == DType.U8)
                    .toList();
            if (!few.isEmpty()) {
                all.add(() -> compile(compiler, file, few.getLast(), new Architecture(9, 0)));
            }
            if (old && !few.isEmpty()) {
                all.add(() -> compile(compiler, file, few.getFirst(), new Architecture(7, 5)));
            }
        }
        all.parallelStream().forEach(Runnable::run);
    }

    private static void compile(KernelCompiler compiler, KernelFile file, KernelVariant variant, Architecture on) {
        KernelSource source = file.source(variant);
        boolean whole = "all".equals(System.getProperty("tenon.kernels"))
                || TO_MACHINE_CODE.stream().anyMatch(file.path()::startsWith);
        List<String> compiled = whole || !(compiler instanceof NvccCompiler nvcc)
                ? ResourceReport.parse(compiler.compile(source, on).log()).stream()
                        .map(ResourceReport::entry)
                        .toList()
                : ENTRY.matcher(nvcc.ptx(source, on).bytes().getString(0))
                        .results()
                        .map(entry -> entry.group(1))
                        .toList();
        assertThat(compiled)
                .containsExactlyInAnyOrderElementsOf(file.entries().stream()
                        .map(spec -> spec.nameIn(variant))
                        .toList());
    }
}
