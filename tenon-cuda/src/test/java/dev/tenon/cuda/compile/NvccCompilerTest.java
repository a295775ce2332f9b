package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** nvcc and NVRTC, where they are: images, reports, errors; and PTX built ahead. None needs a GPU. */
class NvccCompilerTest {
    private static final KernelSource SOURCE = new KernelSource(
            "try/spill.cu", """
            #include "tenon.cuh"
            #include "twice.cuh"
            extern "C" __global__ void TENON_NAME(twice)(const float* x, float* y) {
                __shared__ float room[256];
                room[threadIdx.x] = x[threadIdx.x];
                __syncthreads();
                y[threadIdx.x] = two * room[255 - threadIdx.x];
            }
            TENON_ENTRY(twice)
            """, Map.of("twice.cuh", "constexpr float two = 2;\n"), List.of("TENON_SUFFIX=_f32"));

    private static KernelCompiler there(KernelCompiler compiler) {
        Assumptions.assumeTrue(compiler.unavailable().isEmpty(), compiler.unavailable());
        return compiler;
    }

    @Test
    void nvcc() {
        compiles(there(new NvccCompiler()));
    }

    @Test
    void nvrtc() {
        compiles(there(new NvrtcCompiler()));
        compiles(there(new NvrtcCompiler(true)));
    }

    private static void compiles(KernelCompiler compiler) {
        assertThat(compiler.name()).matches("(nvcc|NVRTC) \\d+\\.\\d+");
        assertThat(compiler.architectures()).contains(Architecture.parse("80"), Architecture.parse("90"));
        ModuleImage cubin = compiler.compile(SOURCE, Architecture.parse("sm_80"));
        assertThat(cubin.format()).isEqualTo(ModuleImage.Format.CUBIN);
        assertThat(cubin.bytes().asSlice(0, 4).toArray(ValueLayout.JAVA_BYTE)).containsExactly(0x7f, 'E', 'L', 'F');
        assertThat(ResourceReport.parse(cubin.log())).singleElement().satisfies(report -> {
            assertThat(report.entry()).isEqualTo("twice_f32");
            assertThat(report.registers()).isBetween(4, 64);
            assertThat(report.sharedBytes()).isEqualTo(1024);
            assertThat(report.spillStoreBytes()).isZero();
        });
        ModuleImage ptx = compiler.compile(SOURCE, Architecture.parse("sm_250"));
        assertThat(ptx.format()).isEqualTo(ModuleImage.Format.PTX);
        assertThat(ptx.bytes().getString(0)).contains(".visible .entry twice_f32", ".target sm_");
        assertThatThrownBy(() -> compiler.compile(
                        new KernelSource(
                                "bad.cu",
                                "#include \"tenon.cuh\"\n\nint f() { return nowhere; }\n",
                                Map.of(),
                                List.of()),
                        Architecture.parse("sm_80")))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("bad.cu does not compile for sm_80")
                .hasMessageContaining("\"nowhere\" is undefined")
                .hasMessageContaining("bad.cu     3  int f() { return nowhere; }");
        assertThatThrownBy(() -> compiler.compile(SOURCE, Architecture.parse("sm_30")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("too old");
    }

    @Test
    void builtAheadAndFound(@TempDir Path root) throws Exception {
        NvccCompiler nvcc = new NvccCompiler();
        there(nvcc);
        Path folder = root.resolve("ptx");
        List<Architecture> architectures =
                Stream.of("75", "80", "90").map(Architecture::parse).toList();
        KernelCache cache = new KernelCache(root.resolve("cache"));
        PtxBuilder.build(
                List.of(new KernelSource("before.cu", "", Map.of(), List.of())),
                List.of(),
                architectures,
                List.of(),
                nvcc,
                cache,
                folder);
        PtxBuilder.build(List.of(SOURCE), List.of(), architectures, List.of(), nvcc, cache, folder);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).hasSize(4); // nothing of what was built before
        }
        assertThatThrownBy(() -> PtxBuilder.build(
                        List.of(SOURCE, new KernelSource("bad.cu", "int f() { return nowhere; }", Map.of(), List.of())),
                        List.of(),
                        architectures,
                        List.of(),
                        nvcc,
                        cache,
                        root.resolve("bad")))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("\"nowhere\" is undefined");
        Prebuilt prebuilt =
                new Prebuilt(Optional.of(name -> Files.newInputStream(folder.resolve(name))), ModuleImage.Format.PTX);
        assertThat(prebuilt.unavailable()).isEmpty();
        assertThat(prebuilt.name()).isEqualTo("prebuilt PTX (" + nvcc.name() + ")");
        assertThat(prebuilt.architectures()).containsExactlyElementsOf(architectures);
        for (String[] want :
                new String[][] {{"sm_75", "sm_75"}, {"sm_89", "sm_80"}, {"sm_90", "sm_90"}, {"sm_120", "sm_90"}}) {
            assertThat(prebuilt.holds(SOURCE, Architecture.parse(want[0]))).isTrue();
            ModuleImage image = prebuilt.compile(SOURCE, Architecture.parse(want[0]));
            assertThat(image.format()).isEqualTo(ModuleImage.Format.PTX);
            assertThat(image.bytes().getString(0)).contains(".target " + want[1]);
        }
        assertThat(prebuilt.holds(SOURCE, Architecture.parse("sm_70"))).isFalse();
        assertThatThrownBy(() -> prebuilt.compile(SOURCE, Architecture.parse("sm_70")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("is there for [sm_75, sm_80, sm_90], which is no code for sm_70");
        Path older = root.resolve("older");
        PtxBuilder.build(List.of(SOURCE), List.of(), architectures.subList(0, 2), List.of(), nvcc, cache, older);
        Prebuilt without =
                new Prebuilt(Optional.of(name -> Files.newInputStream(older.resolve(name))), ModuleImage.Format.PTX);
        // launches on a device of 9.0 count on what older code does not have
        assertThatThrownBy(() -> without.compile(SOURCE, Architecture.parse("sm_90")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("is there for [sm_75, sm_80], which is no code for sm_90");
        assertThatThrownBy(() -> prebuilt.compile(CountingCompiler.source("other.cu"), Architecture.parse("sm_90")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("has changed since it was built");
    }

    @Test
    void machineCodeServesItsMajorNumber(@TempDir Path root) throws Exception {
        NvccCompiler nvcc = new NvccCompiler();
        Assumptions.assumeTrue(nvcc.unavailable().isEmpty(), nvcc::unavailable);
        Path folder = root.resolve("files");
        List<Architecture> built = List.of(new Architecture(8, 0), new Architecture(8, 9));
        KernelCache cache = new KernelCache(root.resolve("cache"));
        PtxBuilder.build(List.of(SOURCE), List.of(), List.of(), built, nvcc, cache, folder);
        Optional<PtxBundle> bundle = Optional.of(name -> Files.newInputStream(folder.resolve(name)));
        Prebuilt code = new Prebuilt(bundle, ModuleImage.Format.CUBIN);
        assertThat(code.name()).isEqualTo("prebuilt machine code (" + nvcc.name() + ")");
        assertThat(code.architectures()).containsExactlyElementsOf(built);
        for (String device : List.of("sm_80", "sm_86", "sm_89")) {
            ModuleImage image = code.compile(SOURCE, Architecture.parse(device));
            assertThat(image.format()).isEqualTo(ModuleImage.Format.CUBIN);
            assertThat(image.bytes().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(0x464c457f); // ELF
        }
        assertThatThrownBy(() -> code.compile(SOURCE, Architecture.parse("sm_90")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("is there for [sm_80, sm_89], which is no code for sm_90");
        assertThat(new Prebuilt(bundle, ModuleImage.Format.PTX).unavailable()).contains("holds none");
    }

    @Test
    void machineCodeOfACapabilityAloneHoldsKernelsOfAllKinds(@TempDir Path root) throws Exception {
        NvccCompiler nvcc = new NvccCompiler();
        there(nvcc);
        KernelSource own = new KernelSource("own.cu", SOURCE.text(), SOURCE.headers(), SOURCE.defines());
        Architecture hopper = Architecture.parse("sm_90a");
        Path folder = root.resolve("files");
        KernelCache cache = new KernelCache(root.resolve("cache"));
        PtxBuilder.build(
                List.of(SOURCE), List.of(own), List.of(), List.of(new Architecture(8, 0), hopper), nvcc, cache, folder);
        Prebuilt code =
                new Prebuilt(Optional.of(name -> Files.newInputStream(folder.resolve(name))), ModuleImage.Format.CUBIN);
        assertThat(code.makesSpecific(Architecture.parse("sm_90"))).isTrue();
        assertThat(code.makesSpecific(Architecture.parse("sm_100"))).isFalse();
        for (String device : List.of("sm_80", "sm_90")) {
            assertThat(code.compile(SOURCE, Architecture.parse(device)).format())
                    .isEqualTo(ModuleImage.Format.CUBIN);
        }
        assertThat(code.compile(own, hopper).format()).isEqualTo(ModuleImage.Format.CUBIN);
        assertThatThrownBy(() -> code.compile(own, Architecture.parse("sm_80")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("own.cu is there for [sm_90a], which is no code for sm_80");
        assertThatThrownBy(() -> code.compile(SOURCE, Architecture.parse("sm_100")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("which is no code for sm_100");
    }

    @Test
    void anArtifactBuiltWithoutNvccSaysSo(@TempDir Path folder) throws Exception {
        PtxBuilder.buildNothing(folder, "there was no nvcc");
        Prebuilt empty =
                new Prebuilt(Optional.of(name -> Files.newInputStream(folder.resolve(name))), ModuleImage.Format.PTX);
        assertThat(empty.name()).isEmpty();
        assertThat(empty.unavailable())
                .isEqualTo("prebuilt PTX: the artifact dev.tenon:tenon-cuda-ptx holds none: there was no nvcc");
    }

    @Test
    void withoutTheArtifactItSaysSo() {
        Prebuilt none = new Prebuilt(Optional.empty(), ModuleImage.Format.PTX);
        assertThat(none.unavailable()).contains("tenon-cuda-ptx");
        assertThat(new Prebuilt(
                                Optional.of(name -> {
                                    throw new java.io.IOException("gone");
                                }),
                                ModuleImage.Format.PTX)
                        .unavailable())
                .contains("its index cannot be read");
        KernelCompilers all = new KernelCompilers(List.of(none));
        assertThat(all.unavailable()).contains("tenon-cuda-ptx");
        assertThatThrownBy(() -> all.compile(SOURCE, Architecture.parse("sm_80")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("tenon-cuda-ptx");
    }
}
