package dev.tenon.cuda.kernel;

import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.GpuContext;

/** Where prepared launches get their kernels from. */
public interface Kernels {
    /** The device that they are for. */
    GpuContext context();

    /** Whether variants can be compiled for the device's own form: {@link KernelVariant#isSpecific}. */
    boolean compilesSpecific();

    /** Whether a variant is loaded, or can be without a compiler. */
    default boolean holds(KernelFile file, KernelVariant variant) {
        return false;
    }

    /**
     * An entry of a file's variant, which may be compiled later, but before it is launched.
     *
     * @param sharedBytes of dynamic shared memory, what its launches ask for at most
     * @throws dev.tenon.core.error.NativeException when the source does not compile or the driver refuses it
     */
    Kernel kernel(KernelFile file, String entry, KernelVariant variant, int sharedBytes);

    /** One without dynamic shared memory beyond what every kernel has. */
    default Kernel kernel(KernelFile file, String entry, KernelVariant variant) {
        return kernel(file, entry, variant, 0);
    }
}
