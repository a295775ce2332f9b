package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DeviceCasesTest {
    @TempDir
    private Path folder;

    /** The child of {@link #brokenLibrary}. */
    static final class WhatIsThere {
        public static void main(String[] args) {
            System.out.println(Target.best());
            Graph graph = GraphBuilder.build("plus one", g -> {
                var x = g.input("x", DType.F32, Dim.of(3));
                g.output("y", g.add(x, g.scalar(DType.F32, 1)));
            });
            System.out.println(Cpu.only(graph, Map.of("x", Tensor.of(new float[] {1, 2, 3}, 3))));
            for (int i = 0; i < 2; i++) {
                try {
                    Engine.open(Target.cuda(0)).close();
                    System.out.println("opened");
                } catch (UnsupportedException e) {
                    System.out.println("unsupported: " + e.getMessage());
                }
            }
        }
    }

    @Test
    @DisplayName("ML-01 without a GPU the best device is the CPU, and asking for a GPU fails alike every time")
    void noGpu() {
        Assumptions.assumeTrue(
                Target.devices().stream().noneMatch(device -> device.backend().equals("cuda")), "there is a GPU");
        assertThat(Target.best()).hasToString("cpu");
        assertThat(Target.unavailable()).allSatisfy(line -> assertThat(line).doesNotContain("\n"));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> Engine.open(Target.cuda(0)))
                    .isInstanceOf(UnsupportedException.class)
                    .hasMessageContaining("cuda")
                    .message()
                    .doesNotContain("\n");
        }
    }

    @Test
    @DisplayName("ML-01 a libcuda that is no library changes nothing")
    void brokenLibrary() throws Exception {
        Files.writeString(folder.resolve("libcuda.so.1"), "not a library\n");
        Map<String, String> environment = Map.of("LD_LIBRARY_PATH", folder.toString());
        try (Jvm jvm = Jvm.start(WhatIsThere.class, environment, true)) {
            Jvm.Result result = jvm.await(60);
            assertThat(result.err()).isEmpty();
            List<String> lines = result.out().lines().toList();
            assertThat(lines).hasSize(4);
            assertThat(lines.get(0)).isEqualTo("cpu");
            assertThat(lines.get(1)).isEqualTo("f32[3] {2.0, 3.0, 4.0}");
            assertThat(lines.get(2)).startsWith("unsupported: ").contains("cuda");
            assertThat(lines.get(3)).isEqualTo(lines.get(2));
            assertThat(result.code()).isZero();
        }
    }
}
