package dev.tenon.cuda.ptx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.compile.KernelCompilers;
import dev.tenon.cuda.compile.Prebuilt;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSpec;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** What the artifact holds, as CUDA's chain of compilers finds it where NVRTC and nvcc are not there. */
class PtxTest {
    /** Skips where the build found no nvcc. */
    static void require() {
        String missing = Prebuilt.ptx().unavailable();
        if (!missing.isEmpty()) {
            System.out.println("test of prebuilt kernels skipped: " + missing);
            Assumptions.abort(missing);
        }
    }

    @Test
    void theArtifactSaysWhatItHolds() {
        List<String> index = BuiltPtx.index();
        if (index.size() > 1) {
            assertThat(index.getFirst()).startsWith("# nvcc 1");
            assertThat(index.subList(1, index.size()))
                    .hasSizeGreaterThan(100)
                    .allMatch(line -> line.matches("[0-9a-f]{32} compute_\\d+a?"));
        } else {
            assertThat(index.getFirst()).isEqualTo("# it was built without -Dtenon.ptx=80,90");
        }
    }

    @Test
    void everyKernelThatWasBuiltIsFound() {
        require();
        KernelCompilers chain = PtxOnlyPlatform.chain();
        assertThat(chain.name()).startsWith("prebuilt PTX (nvcc 1");
        assertThat(chain.makesSpecific(Architecture.parse("sm_90"))).isFalse();
        assertThat(chain.passedOver())
                .hasSize(2)
                .anyMatch(reason -> reason.contains("nvrtc"))
                .anyMatch(reason -> reason.contains("nvcc: hidden"));
        int files = 0;
        for (KernelFile file : KernelCatalog.all()) {
            for (KernelVariant variant : file.variants()) {
                if (variant.headers().isEmpty()
                        && !variant.isSpecific()
                        && BuiltPtx.built()
                                .matcher(file.path() + variant.suffix())
                                .matches()) {
                    files++;
                    for (String device : List.of("sm_80", "sm_90", "sm_120")) {
                        check(file, variant, chain.compile(file.source(variant), Architecture.parse(device)));
                    }
                }
            }
        }
        assertThat(files).isEqualTo(BuildPtx.sources(BuiltPtx.built()).size()).isGreaterThan(5);
    }

    private static void check(KernelFile file, KernelVariant variant, ModuleImage image) {
        assertThat(image.format()).isEqualTo(ModuleImage.Format.PTX);
        String text = image.bytes().getString(0);
        for (KernelSpec entry : file.entries()) {
            assertThat(text).contains(".visible .entry " + entry.nameIn(variant) + "(");
        }
    }

    @Test
    void whatIsGeneratedOrChangedIsNot() {
        require();
        KernelCompilers chain = PtxOnlyPlatform.chain();
        for (KernelFile file : KernelCatalog.all()) {
            for (KernelVariant variant : file.variants()) {
                if (!variant.headers().isEmpty()) {
                    assertThatThrownBy(() -> chain.compile(file.source(variant), Architecture.parse("sm_90")))
                            .isInstanceOf(UnsupportedException.class)
                            .hasMessageContaining("is not in it, or has changed since it was built");
                }
            }
        }
        KernelSource known = BuildPtx.sources(BuiltPtx.built()).getFirst();
        KernelSource changed = new KernelSource(known.name(), known.text() + "\n", known.headers(), known.defines());
        assertThatThrownBy(() -> chain.compile(changed, Architecture.parse("sm_90")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("has changed since it was built");
        assertThatThrownBy(() ->
                        chain.compile(new KernelSource("new.cu", "", Map.of(), List.of()), Architecture.parse("sm_90")))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("new.cu");
    }
}
