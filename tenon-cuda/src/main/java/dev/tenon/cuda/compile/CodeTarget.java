package dev.tenon.cuda.compile;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.ModuleImage;
import java.util.List;

/**
 * What a compiler is asked to make for a device.
 *
 * @param architecture of the code
 * @param format machine code where the compiler knows the device; PTX of the newest architecture that it knows below the device otherwise, which the driver brings forward
 */
record CodeTarget(Architecture architecture, ModuleImage.Format format) {
    /**
     * @param known what the compiler knows, ascending, without specific forms
     * @throws UnsupportedException when the device is older than all of it, or is wanted in its specific form and unknown
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
                .filter(one -> one.compareTo(generic) < 0)
                .reduce((_, newest) -> newest)
                .map(newest -> new CodeTarget(newest, ModuleImage.Format.PTX))
                .orElseThrow(() -> new UnsupportedException("the GPU (" + device + ") is too old for " + compiler
                        + ", which compiles for " + known + "; an older CUDA version may know it"));
    }

    /** {@code sm_90a} or {@code compute_90}. */
    String flag() {
        return format == ModuleImage.Format.CUBIN ? architecture.sm() : architecture.compute();
    }
}
