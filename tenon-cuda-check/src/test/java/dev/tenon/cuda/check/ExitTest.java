package dev.tenon.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.cuda.compile.NvrtcCompiler;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Case JV-03: a JVM may end while runs are under way. */
class ExitTest {
    private static final int CHILDREN = 5;

    @ParameterizedTest
    @ValueSource(strings = {"stream", "graph", "multi:3", "graph:3"})
    void anExitDuringRunsIsAnExit(Execution execution) throws Exception {
        RequiredGpus.device(0);
        for (int child = 0; child < CHILDREN; child++) {
            ChildJvm.Result result =
                    ChildJvm.run(Running.class, Map.of(), execution.toString(), Integer.toString(37 * child));
            assertThat(result.crashed()).as(result.out()).isFalse();
            assertThat(result.code()).as(result.out()).isEqualTo(7);
        }
    }

    @Test
    void anExitDuringCompilationsIsAnExit() throws Exception {
        RequiredGpus.device(0);
        for (int child = 0; child < CHILDREN; child++) {
            ChildJvm.Result result = ChildJvm.run(Compiling.class, Map.of(), Integer.toString(300 + 211 * child));
            assertThat(result.crashed()).as(result.out()).isFalse();
            assertThat(result.code()).as(result.out()).isEqualTo(7);
        }
    }

    /** Compiles on four threads until the main thread exits. */
    static final class Compiling {
        public static void main(String[] args) throws InterruptedException {
            NvrtcCompiler compiler = new NvrtcCompiler();
            for (int thread = 0; thread < 4; thread++) {
                int number = thread;
                Thread.ofPlatform().start(() -> {
                    for (int run = number; ; run++) {
                        KernelFile file = KernelCatalog.all()
                                .get(run % KernelCatalog.all().size());
                        compiler.compile(file.source(file.variants().getFirst()), new Architecture(9, 0));
                    }
                });
            }
            Thread.sleep(Long.parseLong(args[0]));
            System.exit(7);
        }
    }

    /** Runs on four threads until the main thread exits. */
    static final class Running {
        public static void main(String[] args) throws InterruptedException {
            BackendModel model = new BackendModel();
            Engine runtime = Engine.open(Target.cuda(0));
            CompileOptions options =
                    CompileOptions.defaults().withPrecision(Precision.STRICT).withExecution(Execution.parse(args[0]));
            CompiledModel compiled = runtime.compile(model.graph(), Weights.none(), options);
            try (Session first = compiled.newSession()) {
                model.check(first.run(model.inputs(33, 0)), 33, 0);
            }
            for (int thread = 0; thread < 4; thread++) {
                Thread.ofPlatform().start(() -> {
                    Session session = compiled.newSession();
                    for (int run = 0; ; run++) {
                        model.check(session.run(model.inputs(33, run % 7)), 33, run % 7);
                    }
                });
            }
            Thread.sleep(Long.parseLong(args[1]));
            System.exit(7);
        }
    }
}
