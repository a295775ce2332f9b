package dev.tenon.cuda.compile;

import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.nativelib.nvrtc.NvrtcLibrary;
import dev.tenon.nativelib.nvrtc.NvrtcProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * NVRTC: machine code for architectures that it knows, PTX for newer ones. It gets our headers by name and no include
 * path. Thread-safe.
 */
public final class NvrtcCompiler implements KernelCompiler {
    /** The compiler recurses deeply, and a thread of Java has an eighth of the stack that it expects. */
    private static final long STACK = 16L << 20;

    private final boolean lineInfo;

    public NvrtcCompiler() {
        this(false);
    }

    /** @param lineInfo whether profilers see source lines; the code is the same */
    public NvrtcCompiler(boolean lineInfo) {
        this.lineInfo = lineInfo;
    }

    @Override
    public String name() {
        return unavailable().isEmpty() ? "NVRTC " + NvrtcLibrary.version() : "";
    }

    @Override
    public String unavailable() {
        return NvrtcLibrary.search().reason();
    }

    @Override
    public String fingerprint() {
        // the version has no patch level; the library's size tells builds apart
        String library =
                NvrtcLibrary.search().opened().map(found -> found.name()).orElse("");
        long bytes = 0;
        try {
            bytes = library.contains("/") || library.contains("\\") ? Files.size(Path.of(library)) : 0;
        } catch (IOException _) {
            bytes = -1;
        }
        return DeviceHeader.addTo(
                        new Hash().add(name()).add(String.valueOf(bytes)).add(String.join(" ", options())))
                .hex();
    }

    @Override
    public List<Architecture> architectures() {
        return Arrays.stream(NvrtcLibrary.architectures())
                .mapToObj(number -> new Architecture(number / 10, number % 10))
                .toList();
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        CodeTarget target = CodeTarget.of(name(), architectures(), architecture);
        return NvrtcRuns.during(
                () -> OwnThread.call("tenon-nvrtc", STACK, () -> compile(source, architecture, target)));
    }

    private ModuleImage compile(KernelSource source, Architecture device, CodeTarget target) {
        Map<String, String> headers = DeviceHeader.headers(source);
        List<String> options = new ArrayList<>(options());
        options.add("--gpu-architecture=" + target.flag());
        source.defines().forEach(define -> options.add("--define-macro=" + define));
        try (NvrtcProgram program = new NvrtcProgram(source.name(), source.text(), headers)) {
            if (!program.compile(options)) {
                throw SourceExcerpt.fault(name(), source, headers, device, program.log());
            }
            boolean machineCode = target.format() == ModuleImage.Format.CUBIN;
            return new ModuleImage(
                    source.name(),
                    target.format(),
                    machineCode ? program.cubin() : program.ptx(),
                    null,
                    program.log().strip());
        }
    }

    private List<String> options() {
        List<String> options = new ArrayList<>(List.of("--std=c++17", "--ptxas-options=--verbose"));
        if (lineInfo) {
            options.add("--generate-line-info");
        }
        if (hasCache()) {
            options.add("--no-cache"); // what comes from there comes without its log; and there is ours
        }
        return options;
    }

    /** Whether the library keeps what it compiled, as it does from CUDA 12.9 on. */
    private static boolean hasCache() {
        if (!NvrtcLibrary.search().reason().isEmpty()) {
            return false;
        }
        String[] version = NvrtcLibrary.version().split("\\.", -1);
        int major = Integer.parseInt(version[0]);
        return major > 12 || (major == 12 && Integer.parseInt(version[1]) >= 9);
    }
}
