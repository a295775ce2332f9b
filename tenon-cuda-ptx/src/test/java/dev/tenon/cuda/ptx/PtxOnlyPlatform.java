package dev.tenon.cuda.ptx;

import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.compile.KernelCompilers;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.emulator.EmulatorPlatform;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * The emulator as a machine without NVRTC and nvcc would be: what CUDA's chain of compilers has no PTX for, it does not
 * run.
 */
public final class PtxOnlyPlatform implements GpuPlatform {
    static final String NAME = "ptxonly";

    /** The sources that were asked for and there, with their macros. */
    static final Set<String> FOUND = new ConcurrentSkipListSet<>();

    private final GpuPlatform emulator = new EmulatorPlatform();
    private final KernelCompiler chain = chain();

    public PtxOnlyPlatform() {}

    /** CUDA's, over an empty cache. */
    static KernelCompilers chain() {
        try {
            Path folder = Files.createTempDirectory("tenon-empty");
            folder.toFile().deleteOnExit();
            return KernelCompilers.cuda(new KernelCache(folder), () -> "13.0");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public GpuDriver driver() {
        return emulator.driver();
    }

    @Override
    public KernelCompiler compiler() {
        return new KernelCompiler() {
            @Override
            public String name() {
                return chain.name();
            }

            @Override
            public String unavailable() {
                return chain.unavailable();
            }

            @Override
            public String fingerprint() {
                return chain.fingerprint();
            }

            @Override
            public List<Architecture> architectures() {
                return chain.architectures();
            }

            @Override
            public ModuleImage compile(KernelSource source, Architecture architecture) {
                if (chain.compile(source, architecture).format() != ModuleImage.Format.PTX) {
                    throw new AssertionError(source.name() + " was compiled");
                }
                FOUND.add(source.name() + " " + source.defines());
                return emulator.compiler().compile(source, architecture);
            }
        };
    }
}
