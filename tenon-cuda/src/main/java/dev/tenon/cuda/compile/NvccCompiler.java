package dev.tenon.cuda.compile;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.nativelib.LibraryFinder;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The toolkit's compiler as a process of its own: for machines without NVRTC, and for building ahead. Thread-safe. */
public final class NvccCompiler implements KernelCompiler {
    private static final Pattern RELEASE = Pattern.compile("release (\\d+\\.\\d+), V([\\d.]+)");
    private static final Pattern KNOWN = Pattern.compile("compute_(\\d+)\\b");

    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** What was found on this machine; looked for on first use. */
    private record Found(
            String executable, String name, String version, List<Architecture> architectures, String unavailable) {
        static Found none(String reason) {
            return new Found("", "", "", List.of(), reason);
        }
    }

    private static final Lazy<Found> FOUND = new Lazy<>() {
        @Override
        protected Found make() {
            return find();
        }
    };

    private static HostCommand run(List<String> command) {
        try {
            return HostCommand.run(Path.of("."), command, LIMIT);
        } catch (IOException e) {
            throw new NativeException(command.getFirst() + " cannot be run: " + e.getMessage(), e);
        }
    }

    private static Found find() {
        if (LibraryFinder.here().hides("nvcc")) {
            return Found.none("nvcc: hidden by " + LibraryFinder.HIDE);
        }
        for (Path candidate : NvccPlaces.candidates()) {
            if (!Files.isExecutable(candidate)) {
                continue;
            }
            try {
                HostCommand version = run(List.of(candidate.toString(), "--version"));
                HostCommand known = run(List.of(candidate.toString(), "--list-gpu-arch"));
                Matcher release = RELEASE.matcher(version.output());
                if (version.status() != 0 || known.status() != 0 || !release.find()) {
                    return Found.none("nvcc: " + candidate + " does not tell its version");
                }
                List<Architecture> architectures = KNOWN.matcher(known.output())
                        .results()
                        .map(match -> Architecture.parse(match.group(1)))
                        .sorted()
                        .distinct()
                        .toList();
                return new Found(candidate.toString(), "nvcc " + release.group(1), release.group(2), architectures, "");
            } catch (NativeException e) {
                return Found.none("nvcc: " + e.getMessage());
            }
        }
        return Found.none("nvcc: not found on the PATH, under CUDA_HOME or /usr/local/cuda; install CUDA's toolkit");
    }

    /** Without optimisation, in both of its halves. */
    private static final List<String> QUICK = List.of("-Xcicc", "-O0", "-Xptxas", "-O0");

    private final List<String> options;

    /** Looks for nothing yet. */
    public NvccCompiler() {
        this(List.of());
    }

    private NvccCompiler(List<String> more) {
        List<String> all = new ArrayList<>(OPTIONS);
        all.addAll(more);
        this.options = List.copyOf(all);
    }

    /** One that makes slow code in a third of the time: for who only asks whether it compiles. */
    public static NvccCompiler quick() {
        return new NvccCompiler(QUICK);
    }

    @Override
    public String name() {
        return FOUND.get().name();
    }

    @Override
    public String unavailable() {
        return FOUND.get().unavailable();
    }

    @Override
    public boolean isSlowToFind() {
        return true;
    }

    @Override
    public String fingerprint() {
        return DeviceHeader.addTo(
                        new Hash().add(name() + " " + FOUND.get().version()).add(String.join(" ", options)))
                .hex();
    }

    @Override
    public List<Architecture> architectures() {
        if (!unavailable().isEmpty()) {
            throw new UnsupportedException(unavailable());
        }
        return FOUND.get().architectures();
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        return compile(source, architecture, CodeTarget.of(name(), architectures(), architecture));
    }

    /** PTX even for an architecture whose machine code it could make. */
    public ModuleImage ptx(KernelSource source, Architecture architecture) {
        return compile(source, architecture, new CodeTarget(architecture, ModuleImage.Format.PTX));
    }

    private static final List<String> OPTIONS = List.of("-std=c++17", "-Xptxas", "--verbose");

    private ModuleImage compile(KernelSource source, Architecture device, CodeTarget target) {
        if (!unavailable().isEmpty()) {
            throw new UnsupportedException(unavailable());
        }
        Map<String, String> headers = DeviceHeader.headers(source);
        Map<String, String> files = new TreeMap<>();
        headers.forEach((name, text) -> files.put("headers/" + name, text));
        files.put("source/" + source.name(), source.text());
        try (Workshop.Bench bench = Workshop.bench(files)) {
            Path out = bench.path().resolve("out");
            List<String> command = new ArrayList<>(List.of(FOUND.get().executable()));
            command.addAll(options);
            boolean machineCode = target.format() == ModuleImage.Format.CUBIN;
            command.addAll(List.of(
                    machineCode ? "-cubin" : "-ptx",
                    "-arch=" + target.flag(),
                    "-I",
                    bench.path().resolve("headers").toString(),
                    "-o",
                    out.toString()));
            source.defines().forEach(define -> command.add("-D" + define));
            command.add(bench.path().resolve("source/" + source.name()).toString());
            HostCommand result = run(command);
            String log = result.output().replace(bench.path() + "/source/", "").replace(bench.path() + "/headers/", "");
            if (result.status() != 0) {
                throw SourceExcerpt.fault(name(), source, headers, device, log);
            }
            byte[] code = Files.readAllBytes(out);
            MemorySegment room = CacheEntry.room(code.length + (machineCode ? 0L : 1L));
            MemorySegment.copy(code, 0, room, ValueLayout.JAVA_BYTE, 0, code.length);
            return new ModuleImage(source.name(), target.format(), room, null, log.strip());
        } catch (IOException e) {
            throw new NativeException(name() + ": " + source.name() + ": what it made cannot be read: " + e, e);
        }
    }
}
