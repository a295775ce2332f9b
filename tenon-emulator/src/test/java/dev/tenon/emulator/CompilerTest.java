package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The search for a compiler, and what its faults look like. */
class CompilerTest {
    private static ModuleImage compile(String text, String... defines) {
        return new EmulatorCompiler(true)
                .compile(
                        new KernelSource(
                                "some/kernel.cu", text, Map.of("own.cuh", "#define OWN 3\n"), List.of(defines)),
                        EmulatorCompiler.ARCHITECTURE);
    }

    @Test
    void withoutACompilerThereIsOneClearLine() {
        CxxCompiler.Search search = CxxCompiler.search(Map.of("TENON_CXX", "/nowhere/g++"));
        assertThat(search.found()).isEmpty();
        assertThat(search.why()).contains("$TENON_CXX=/nowhere/g++");
    }

    @Test
    void sourceFaultsShowTheirLines() {
        Harness.require();
        assertThatThrownBy(() -> compile("#include \"tenon.cuh\"\nint a;\nfloat b = nonsense;\n", "X=1"))
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("some/kernel.cu does not compile with [X=1]")
                .hasMessageContaining("nonsense")
                .hasMessageContaining("    3  float b = nonsense;");
        assertThatThrownBy(() -> new EmulatorCompiler(true)
                        .compile(new KernelSource("k.cu", "", Map.of(), List.of()), new Architecture(9, 0)))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("sm_80");
    }

    @Test
    void namesDefinesAndHeaders() throws ImageRejected {
        Harness.require();
        ModuleImage image = compile("""
                #include "own.cuh"
                #include "tenon.cuh"
                constexpr int twice(int x) { return 2 * x; }
                static_assert(twice(OWN) == 6 && TENON_EMULATED && __CUDA_ARCH__ == 800);
                extern "C" __global__ void __launch_bounds__(128, 2) TENON_NAME(kernel)(int* y) { *y = VALUE; }
                TENON_ENTRY(kernel)
                """, "TENON_SUFFIX=_f32", "VALUE=7");
        try (GpuContext context = new EmulatorDriver(Harness.options(true)).open(0);
                var module = context.load(image)) {
            assertThat(module.function("kernel_f32").name()).isEqualTo("kernel_f32");
            assertThatThrownBy(() -> module.function("kernel")).hasMessageContaining("[kernel_f32]");
        }
    }

    @Test
    void imagesThatAreNone() {
        Harness.require();
        try (GpuContext context = new EmulatorDriver(Harness.options(true)).open(0)) {
            ModuleImage ptx =
                    new ModuleImage("a", ModuleImage.Format.PTX, MemorySegment.ofArray(new byte[8]), null, "");
            assertThatThrownBy(() -> context.load(ptx)).isInstanceOf(ImageRejected.class);
            ModuleImage junk =
                    new ModuleImage("a", ModuleImage.Format.OBJECT, MemorySegment.ofArray(new byte[8]), null, "");
            assertThatThrownBy(() -> context.load(junk)).isInstanceOf(NativeException.class);
            assertThatThrownBy(() -> context.load(compile("#include \"tenon.cuh\"\nint a;\n")))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("TENON_ENTRY");
            assertThat(context.healthy()).isTrue();
        }
    }

    @Test
    void optionsOfTheEnvironment() {
        EmulatorOptions options = EmulatorOptions.of(
                Map.of("TENON_EMULATOR_CHECKED", "0", "TENON_EMULATOR_WORKERS", "3", "TENON_EMULATOR_MEMORY", "1000"));
        assertThat(options.checked()).isFalse();
        assertThat(options.workers()).isEqualTo(3);
        assertThat(options.memoryBytes()).isEqualTo(1000);
        assertThat(EmulatorOptions.of(Map.of()).checked()).isTrue();
        assertThatThrownBy(() -> EmulatorOptions.of(Map.of("TENON_EMULATOR_WORKERS", "many")))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("TENON_EMULATOR_WORKERS=many");
        assertThatThrownBy(() -> EmulatorOptions.of(Map.of("TENON_EMULATOR_WORKERS", "0")))
                .isInstanceOf(InputException.class);
    }
}
