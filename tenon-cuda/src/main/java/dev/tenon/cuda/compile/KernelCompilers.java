package dev.tenon.cuda.compile;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Several compilers for one platform, the best first. The first that has an image for a source serves; what stands
 * before it is passed over with a reason. Thread-safe.
 *
 * @param compilers in order
 */
public record KernelCompilers(List<KernelCompiler> compilers) implements KernelCompiler {
    private static final System.Logger LOG = System.getLogger(KernelCompilers.class.getName());

    public KernelCompilers {
        compilers = List.copyOf(compilers);
    }

    /**
     * CUDA's on this machine: machine code built ahead, where there is some; NVRTC; PTX built ahead; nvcc. The two that
     * compile have the cache before them.
     */
    public static KernelCompilers cuda(KernelCache cache, Supplier<String> driverVersion) {
        List<KernelCompiler> compilers = new ArrayList<>(List.of(
                new CachingCompiler(new NvrtcCompiler(), cache, driverVersion),
                Prebuilt.ptx(),
                new CachingCompiler(new NvccCompiler(), cache, driverVersion)));
        Prebuilt machineCode = Prebuilt.machineCode();
        if (machineCode.unavailable().isEmpty()) {
            compilers.addFirst(machineCode);
        }
        return new KernelCompilers(compilers);
    }

    /** The reason for each compiler that is not there, in order. */
    public List<String> passedOver() {
        return compilers.stream()
                .map(KernelCompiler::unavailable)
                .filter(reason -> !reason.isEmpty())
                .toList();
    }

    /** Asked one by one: whether nvcc is there takes two processes, which nobody waits for where NVRTC serves. */
    private Stream<KernelCompiler> available() {
        return compilers.stream().filter(compiler -> compiler.unavailable().isEmpty());
    }

    @Override
    public String name() {
        return available().findFirst().map(KernelCompiler::name).orElse("");
    }

    @Override
    public String unavailable() {
        return available().findFirst().isPresent() ? "" : String.join("; ", passedOver());
    }

    @Override
    public String fingerprint() {
        return available().map(KernelCompiler::fingerprint).reduce("", (a, b) -> a + " " + b);
    }

    @Override
    public List<Architecture> architectures() {
        requireSome();
        TreeSet<Architecture> all = new TreeSet<>();
        available().forEach(compiler -> all.addAll(compiler.architectures()));
        return List.copyOf(all);
    }

    @Override
    public boolean makesSpecific(Architecture device) {
        return compilers.stream().anyMatch(compiler -> compiler.makesSpecific(device));
    }

    /** Of those that are found at once. */
    @Override
    public boolean holds(KernelSource source, Architecture architecture) {
        for (KernelCompiler compiler : compilers) {
            if (compiler.isSlowToFind() || !compiler.unavailable().isEmpty()) {
                continue;
            }
            if (compiler.holds(source, architecture)) {
                return true;
            }
            if (!(compiler instanceof Prebuilt)) {
                return false; // it would compile
            }
        }
        return false;
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        requireSome();
        List<String> reasons = new ArrayList<>();
        for (KernelCompiler compiler : compilers) {
            if (passesOver(compiler, reasons)) {
                continue;
            }
            try {
                return compiler.compile(source, architecture);
            } catch (UnsupportedException e) {
                reasons.add(e.getMessage());
            }
        }
        throw new UnsupportedException(
                source.name() + ": no compiler has code for " + architecture + ": " + String.join("; ", reasons));
    }

    /**
     * Compiles and loads. An image that the driver rejects (PTX newer than the driver, for one) is not the end: the
     * next compiler may have another, machine code for instance.
     *
     * @throws UnsupportedException when no compiler has code for the device
     * @throws NativeException when the source does not compile, and when the driver rejects every image, naming each
     *     and the versions
     */
    @Override
    public GpuModule load(GpuContext context, KernelSource source, Architecture architecture) {
        requireSome();
        List<String> reasons = new ArrayList<>();
        boolean rejected = false;
        for (KernelCompiler compiler : compilers) {
            if (passesOver(compiler, reasons)) {
                continue;
            }
            try {
                return context.load(compiler.compile(source, architecture));
            } catch (UnsupportedException e) {
                reasons.add(e.getMessage());
            } catch (ImageRejected e) {
                rejected = true;
                String reason = "an image by " + compiler.name() + " is rejected: " + e.getMessage();
                LOG.log(Level.WARNING, source.name() + ": " + reason);
                reasons.add(reason);
            }
        }
        String message = source.name() + ": no image for " + architecture + " loads: " + String.join("; ", reasons);
        TenonException fault = rejected ? new NativeException(message) : new UnsupportedException(message);
        throw fault;
    }

    private static boolean passesOver(KernelCompiler compiler, List<String> reasons) {
        String reason = compiler.unavailable();
        if (!reason.isEmpty()) {
            reasons.add(reason);
        }
        return !reason.isEmpty();
    }

    private void requireSome() {
        String reason = unavailable();
        if (!reason.isEmpty()) {
            throw new UnsupportedException("no compiler for kernels: " + reason);
        }
    }
}
