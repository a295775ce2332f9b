package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.compile.HostCommand;
import dev.tenon.cuda.compile.SourceExcerpt;
import dev.tenon.cuda.compile.Workshop;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The host's C++ compiler with the emulator's device header. Without a cache of its own. Thread-safe. */
public final class EmulatorCompiler implements KernelCompiler {
    /** What the emulated device says that it is. */
    public static final Architecture ARCHITECTURE = new Architecture(8, 0);

    private static final List<String> OPTIONS = List.of(
            "-x",
            "c++",
            "-std=c++17",
            "-O1",
            "-fPIC",
            "-fno-exceptions",
            "-fno-rtti",
            "-fno-threadsafe-statics",
            "-fno-stack-protector",
            "-fno-strict-aliasing",
            "-fno-math-errno",
            "-fno-trapping-math",
            "-ffp-contract=off",
            "-fwrapv",
            "-fvisibility=hidden",
            "-fsanitize=integer-divide-by-zero",
            "-w");
    private static final List<String> CHECKED =
            List.of("-DTENON_CHECKED=1", "-g1", "-fsanitize=thread", "-fsanitize=bounds,alignment");
    /**
     * Without the passes that copy a block into its predecessors: a barrier behind a branch would become two, and
     * threads at the one would not be at the other.
     */
    private static final List<String> CHECKED_GCC = List.of(
            "--param=tsan-distinguish-volatile=1",
            "--param=tsan-instrument-func-entry-exit=0",
            "-fno-thread-jumps",
            "-fno-tree-dominator-opts");

    private static final List<String> CHECKED_CLANG =
            List.of("-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", "-tsan-instrument-func-entry-exit=0");

    private final boolean checked;

    /** @param checked whether kernels are compiled so that every access is checked */
    public EmulatorCompiler(boolean checked) {
        this.checked = checked;
    }

    @Override
    public String name() {
        return unavailable().isEmpty() ? Toolchain.compiler().name() : "";
    }

    @Override
    public String unavailable() {
        return Toolchain.unavailable();
    }

    @Override
    public String fingerprint() {
        return unavailable().isEmpty()
                ? "emulator "
                        + new Hash()
                                .add(Toolchain.runtimeKey(Toolchain.compiler()))
                                .add(String.join(" ", options(Toolchain.compiler())))
                                .hex()
                : "";
    }

    @Override
    public List<Architecture> architectures() {
        Toolchain.compiler();
        return List.of(ARCHITECTURE);
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        if (!architecture.equals(ARCHITECTURE)) {
            throw new UnsupportedException("emulator: " + source.name() + " for " + architecture
                    + "; the emulated device is " + ARCHITECTURE + " and no other");
        }
        Toolchain toolchain = Toolchain.get();
        CxxCompiler compiler = Toolchain.compiler();
        Map<String, String> files = new TreeMap<>(source.headers());
        files.putAll(Resources.headers());
        files.put(source.name(), source.text());
        try (Workshop.Bench bench = Workshop.bench(files)) {
            Path folder = bench.path();
            List<String> arguments = new ArrayList<>(options(compiler));
            arguments.add("-I.");
            if (source.defines().stream().noneMatch(define -> define.matches("TENON_SUFFIX(=.*)?"))) {
                arguments.add("-DTENON_SUFFIX=");
            }
            source.defines().forEach(define -> arguments.add("-D" + define));
            arguments.addAll(List.of("-c", source.name(), "-o", "kernel.o"));
            String log = checked(compiler, source, compiler.run(folder, arguments));
            // linked by itself: with -fsanitize=thread the driver would add a library that ends a JVM
            log += checked(
                    compiler,
                    source,
                    compiler.run(
                            folder,
                            List.of(
                                    "-shared",
                                    "-nostdlib", // nothing starts or ends with it, and linking takes half the time
                                    "-Wl,-z,defs",
                                    "-o",
                                    "kernel.so",
                                    "kernel.o",
                                    toolchain.object().toString(),
                                    "-lm",
                                    "-lc",
                                    "-lgcc")));
            return new ModuleImage(
                    source.name(), ModuleImage.Format.OBJECT, Toolchain.read(folder.resolve("kernel.so")), null, log);
        }
    }

    private List<String> options(CxxCompiler compiler) {
        List<String> options = new ArrayList<>(OPTIONS);
        options.addAll(Toolchain.processor().options());
        if (checked) {
            options.addAll(CHECKED);
            options.addAll(compiler.clang() ? CHECKED_CLANG : CHECKED_GCC);
        } else {
            options.add("-DTENON_CHECKED=0");
        }
        return options;
    }

    private static String checked(CxxCompiler compiler, KernelSource source, HostCommand result) {
        if (result.status() != 0) {
            throw new NativeException(compiler.name() + ": " + source.name() + " does not compile"
                    + (source.defines().isEmpty() ? "" : " with " + source.defines()) + "\n"
                    + result.output().strip()
                    + SourceExcerpt.numbered(source, Map.of(), result.output()));
        }
        return result.output();
    }
}
