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
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.timing.StartUp;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
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

    /** What other tests have compiled is there, the emulator's own library at least; plans are not. */
    @BeforeAll
    static void device() throws IOException {
        Harness.require();
        try (Stream<Path> compiled = Files.list(KernelCache.standard().folder())) {
            for (Path file : compiled.filter(Files::isRegularFile).toList()) {
                Files.copy(file, folder.resolve(file.getFileName().toString()));
            }
        }
    }

    private String child(String execution) throws Exception {
        return child(List.of(execution));
    }

    private String child(List<String> arguments) throws Exception {
        ChildJvm.Result result = ChildJvm.run(
                Running.class, Map.of("TENON_KERNEL_CACHE", folder.toString()), arguments.toArray(String[]::new));
        assertThat(result.code()).as(result.out()).isZero();
        return result.out();
    }

    private static Set<Path> entries() throws IOException {
        return entries(folder);
    }

    private static Set<Path> entries(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith("plan-"))
                    .collect(Collectors.toSet());
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

    /** All in one process: another one asks no compiler, and that is another test. */
    @Test
    void changeOfWhatAPlanDependsOnRefusesIt() throws Exception {
        List<String> changes = List.of(
                "",
                "device\t[^\n]* -> device\tanother device, driver 1",
                "",
                "build\t[^\n]* -> build\tolder",
                "graph\t[^\n]* -> graph\t00",
                "tenon plan 1 -> tenon plan 0",
                "options\t[^\n]*\n -> ",
                "\nmodule\t([^\t]*)\t -> \nmodule\t$1\t../",
                "check\t[^\n]* -> check\t00",
                "module\t[^\n]*\ncheck\t[^\n]*\n -> ");
        List<String> arguments = new ArrayList<>(List.of("graph"));
        arguments.addAll(changes);
        String[] runs = child(arguments).split("compiled \\d+.*\n");
        assertThat(runs).hasSize(changes.size());
        assertThat(runs[0]).contains("made: none was saved");
        assertThat(runs[1]).contains("made: the saved one is of the device \"another device, driver 1\"; this is \"");
        assertThat(runs[2]).contains("loaded: ");
        assertThat(runs[3]).contains("made: the saved one is of the build \"older\"");
        assertThat(runs[4]).contains("made: the saved one is of the graph \"00\"");
        assertThat(runs[5]).contains("made: the saved one is of another format than \"tenon plan 1\"");
        for (int damaged = 6; damaged < runs.length; damaged++) {
            assertThat(runs[damaged]).as("change %d", damaged).contains("made: the saved one is damaged");
        }
        assertThat(child(List.of("multi:2"))).contains("made: none was saved");
        assertThat(entries()).hasSize(6);
    }

    @Test
    void missingImageIsCompiled() throws Exception {
        child("stream");
        Path largest = Collections.max(
                entries(), Comparator.comparingLong(entry -> entry.toFile().length()));
        String lost = Files.readAllLines(largest).reversed().get(1); // the last but the check
        Files.delete(folder.resolve(lost.substring(lost.lastIndexOf('\t') + 1)));
        assertThat(child("stream")).contains("loaded: ").doesNotContain("compiled 0,");
    }

    /**
     * Compiles a model ahead of time for two shapes, runs it, and says what that took; once, or once after each change
     * of the entries, from a pattern to a text.
     */
    static final class Running {
        public static void main(String[] args) throws IOException {
            for (String change : args.length == 1 ? List.of("") : List.of(args).subList(1, args.length)) {
                if (!change.isEmpty()) {
                    String[] parts = change.split(" -> ", -1);
                    for (Path entry : entries(Path.of(System.getenv("TENON_KERNEL_CACHE")))) {
                        write(entry, Files.readString(entry), parts[0], parts[1]);
                    }
                }
                once(Execution.parse(args[0]));
            }
        }

        /** Changes what an entry says; but for a change of its last line, that agrees with the others. */
        private static void write(Path entry, String text, String from, String to) throws IOException {
            String changed = text.replaceFirst(from, to);
            int last = changed.lastIndexOf("check\t");
            String body = last < 0 ? "" : changed.substring(0, last);
            boolean agrees = last >= 0 && changed.endsWith(text.substring(text.lastIndexOf("check\t")));
            Files.writeString(
                    entry,
                    agrees ? body + "check\t" + new Hash().add(body.strip()).hex() + "\n" : changed);
        }

        private static void once(Execution execution) {
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
                    .withExecution(execution)
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
