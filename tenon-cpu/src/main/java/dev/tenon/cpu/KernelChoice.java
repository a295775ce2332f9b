package dev.tenon.cpu;

/** Which kernels run now. */
final class KernelChoice {
    private static final Kernels CURRENT = Vectors.AVAILABLE ? new VectorKernels() : new Kernels();

    private KernelChoice() {}

    static Kernels current() {
        return CURRENT;
    }
}
