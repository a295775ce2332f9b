package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.cuda.backend.GpuBackend;
import dev.tenon.cuda.check.BackendModel;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.timing.StartUp;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans that one process makes ahead of time and the next one loads. */
class SavedPlansTest {
    /** One for all tests: what is compiled in one need not be in the next. */
    @TempDir
    static Path folder;

    @BeforeEach
    void noEntries() throws IOException {
        for (Path entry : entries()) {
            Files.delete(entry);
        }
    }

    @BeforeAll
    static void device() {
        Harness.require();
    }

    private String child(String execution) throws Exception {
        ChildJvm.Result result =
                ChildJvm.run(Running.class, Map.of("TENON_KERNEL_CACHE", folder.toString()), execution);
        assertThat(result.code()).as(result.out()).isZero();
        return result.out();
    }

    private Set<Path> entries() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith("plan-"))
                    .collect(Collectors.toSet());
        }
    }

    private void change(String from, String to) throws IOException {
        for (Path entry : entries()) {
            Files.writeString(entry, Files.readString(entry).replaceFirst(from, to));
        }
    }

    @Test
    void nextProcessAsksNoCompiler() throws Exception {
        assertThat(child("graph")).contains("made: none was saved");
        assertThat(child("graph"))
                .contains("loaded: ")
                .doesNotContain("made: ", "asked: ")
                .contains("compiled 0, questions to the compiler 0");
        assertThat(entries()).hasSize(4); // those of the rehearsal among them
    }

    @Test
    void changeOfWhatAPlanDependsOnRefusesIt() throws Exception {
        child("graph");
        change("device\t[^\n]*", "device\tanother device, driver 1");
        assertThat(child("graph"))
                .contains("made: the saved one is of the device \"another device, driver 1\"; this is \"");
        assertThat(child("graph")).contains("loaded: ");
        change("build\t[^\n]*", "build\tolder");
        assertThat(child("graph")).contains("made: the saved one is of the build \"older\"");
        change("graph\t[^\n]*", "graph\t00");
        assertThat(child("graph")).contains("made: the saved one is of the graph \"00\"");
        change("tenon plan 1", "tenon plan 0");
        assertThat(child("graph")).contains("made: the saved one is of another format than \"tenon plan 1\"");
        change("options\t[^\n]*\n", "");
        assertThat(child("graph")).contains("made: the saved one is damaged");
        assertThat(child("multi:2")).contains("made: none was saved");
        assertThat(entries()).hasSize(6);
    }

    @Test
    void missingImageIsCompiled() throws Exception {
        child("stream");
        Path largest = Collections.max(
                entries(), Comparator.comparingLong(entry -> entry.toFile().length()));
        String lost = Files.readAllLines(largest).getLast();
        Files.delete(folder.resolve(lost.substring(lost.lastIndexOf('\t') + 1)));
        assertThat(child("stream")).contains("loaded: ").doesNotContain("compiled 0,");
    }

    /** Compiles a model ahead of time for two shapes, runs it, and says what that took. */
    static final class Running {
        public static void main(String[] args) {
            AtomicInteger questions = new AtomicInteger();
            GpuPlatform real = new EmulatorPlatform();
            GpuPlatform counted = new GpuPlatform() {
                @Override
                public String name() {
                    return real.name();
                }

                @Override
                public GpuDriver driver() {
                    return real.driver();
                }

                @Override
                public KernelCompiler compiler() {
                    return counting(real.compiler(), questions);
                }
            };
            BackendModel model = new BackendModel();
            CompileOptions options = CompileOptions.defaults()
                    .withExecution(Execution.parse(args[0]))
                    .withAheadOfTime(
                            ShapeProfile.none().withSizes(Map.of("rows", 3L)).withSizes(Map.of("rows", 33L)));
            try (Engine engine = Engine.open(new GpuBackend(counted, 0) {}, 0, EngineOptions.defaults());
                    CompiledModel compiled = engine.compile(model.graph(), Weights.none(), options);
                    Session session = compiled.newSession()) {
                for (int run = 0; run < 2; run++) {
                    model.check(session.run(model.inputs(3, run)), 3, run);
                    model.check(session.run(model.inputs(33, run)), 33, run);
                }
                compiled.report().plans().stream().map(PlanReport::saved).forEach(System.out::println);
            }
            System.out.println(
                    "compiled " + StartUp.spent().compiled() + ", questions to the compiler " + questions.get());
        }

        private static KernelCompiler counting(KernelCompiler compiler, AtomicInteger questions) {
            return (KernelCompiler) Proxy.newProxyInstance(
                    Running.class.getClassLoader(), new Class<?>[] {KernelCompiler.class}, (_, method, arguments) -> {
                        if (Set.of("compile", "load", "fingerprint").contains(method.getName())) {
                            questions.incrementAndGet();
                            System.out.println("asked: " + method.getName() + " "
                                    + Arrays.stream(arguments == null ? new Object[0] : arguments)
                                            .filter(KernelSource.class::isInstance)
                                            .map(source -> ((KernelSource) source).name())
                                            .toList());
                        }
                        try {
                            return method.invoke(compiler, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }
}
