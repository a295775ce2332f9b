package dev.tenon.cuda.compile;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.ModuleImage;
import java.util.List;

/** Refuses every source. */
record FailingCompiler(String message) implements KernelCompiler {
    @Override
    public String name() {
        return "failing";
    }

    @Override
    public String unavailable() {
        return "";
    }

    @Override
    public String fingerprint() {
        return "failing";
    }

    @Override
    public List<Architecture> architectures() {
        return List.of(new Architecture(8, 0));
    }

    @Override
    public ModuleImage compile(KernelSource source, Architecture architecture) {
        throw new NativeException(message);
    }
}
