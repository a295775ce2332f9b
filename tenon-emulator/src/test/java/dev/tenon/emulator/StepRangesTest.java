package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.nativelib.CudaLibraries;
import dev.tenon.nativelib.LibraryFinder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a profiler hears of steps: NVTX's own library, with a listener in the place of a profiler's. */
class StepRangesTest {
    @TempDir
    Path folder;

    @BeforeAll
    static void device() {
        Harness.require();
    }

    /** Five runs, of which the last ones are replays. */
    static final class Runs {
        public static void main(String[] arguments) {
            Graph graph = GraphBuilder.build("rows", g -> {
                Value x = g.input("x", TensorType.of(DType.F32, 4, 8));
                g.output("y", g.softmax(g.matmul(x, g.constant(Tensor.of(new float[64], 8, 8))), -1));
            });
            CompileOptions recorded = CompileOptions.defaults().withExecution(Execution.graph());
            try (Engine engine = Engine.open(Target.parse("emulator"));
                    CompiledModel model = engine.compile(graph, recorded);
                    Session session = model.newSession()) {
                for (int run = 0; run < 5; run++) {
                    session.run(Map.of("x", Tensor.of(new float[32], 4, 8)));
                }
            }
        }
    }

    private List<String> heard(Map<String, String> environment) throws IOException, InterruptedException {
        Path heard = folder.resolve("heard");
        Files.writeString(heard, "");
        ChildJvm.Result result = ChildJvm.run(Runs.class, environment);
        assertThat(result.code()).as(result.out()).isZero();
        return Files.readAllLines(heard);
    }

    @Test
    void stepsAndReplaysAreRangesThatEnd() throws IOException, InterruptedException {
        boolean there = LibraryFinder.here().search(CudaLibraries.NVTX).found() != null;
        if (!there) {
            System.out.println("NVTX skipped (1 test): "
                    + LibraryFinder.here().search(CudaLibraries.NVTX).reason());
        }
        Assumptions.assumeTrue(there, "NVTX is not here");
        try (InputStream source =
                Objects.requireNonNull(StepRangesTest.class.getResourceAsStream("nvtx_listener.cpp"))) {
            Files.copy(source, folder.resolve("listener.cpp"));
        }
        assertThat(Toolchain.compiler()
                        .run(folder, List.of("-shared", "-fPIC", "-o", "listener.so", "listener.cpp"))
                        .status())
                .isZero();
        Map<String, String> profiled = Map.of(
                "NVTX_INJECTION64_PATH", folder.resolve("listener.so").toString(),
                "NVTX_HEARD", folder.resolve("heard").toString());
        List<String> all = heard(profiled);
        assertThat(all).anyMatch(name -> name.startsWith("tenon::mat_mul"));
        assertThat(all).anyMatch(name -> name.startsWith("tenon::softmax"));
        assertThat(all).contains("tenon::replay");
        for (int i = 0; i < all.size(); i++) {
            assertThat(all.get(i).equals("end")).as("%s", all).isEqualTo(i % 2 == 1);
        }
        Map<String, String> silent = new HashMap<>(profiled);
        silent.put("TENON_NVTX", "0");
        assertThat(heard(silent)).isEmpty();
    }
}
