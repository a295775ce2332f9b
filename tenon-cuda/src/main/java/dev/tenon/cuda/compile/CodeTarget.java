package dev.tenon.cuda.compile;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.ModuleImage;
import java.util.List;

/**
 * What a compiler is asked to make for a device.
 *
 * @param architecture of the code
 * @param format machine code where the compiler knows the device; otherwise PTX of the newest architecture below it
 *     that the compiler knows and that {@linkplain KernelSources#serves serves} it, which the driver brings forward
 */
record CodeTarget(Architecture architecture, ModuleImage.Format format) {
    /**
     * @param known what the compiler knows, ascending, without specific forms
     * @throws UnsupportedException when the device is older than all of it, or has kernels of another kind, or is
     *     wanted in its specific form and unknown
     */
    static CodeTarget of(String compiler, List<Architecture> known, Architecture device) {
        Architecture generic = new Architecture(device.major(), device.minor());
        if (known.contains(generic)) {
            return new CodeTarget(device, ModuleImage.Format.CUBIN);
        }
        if (device.specific()) {
            throw new UnsupportedException(compiler + " does not know " + device
                    + ", whose own instructions only code for it can use; it knows " + known);
        }
        return known.stream()
                .filter(one -> KernelSources.serves(one, generic))
                .reduce((_, newest) -> newest)
                .map(newest -> new CodeTarget(newest, ModuleImage.Format.PTX))
                .orElseThrow(() -> new UnsupportedException("the GPU (" + device + ") is too "
                        + (known.getFirst().compareTo(generic) > 0
                                ? "old for " + compiler + ", which compiles for " + known
                                        + "; an older CUDA version may know it"
                                : "new for " + compiler + ", which compiles for " + known
                                        + " and not what kernels are made of on it; a newer CUDA version does")));
    }

    /** {@code sm_90a} or {@code compute_90}. */
    String flag() {
        return format == ModuleImage.Format.CUBIN ? architecture.sm() : architecture.compute();
    }
}
