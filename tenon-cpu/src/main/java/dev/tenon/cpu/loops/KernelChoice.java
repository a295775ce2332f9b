package dev.tenon.cpu.loops;

/** Which kernels run: the ones with vector loops, where those can be loaded; they take each loop into use by itself. */
final class KernelChoice {
    private static final Kernels CURRENT = Vectors.available() ? new VectorKernels() : new Kernels();

    private KernelChoice() {}

    static Kernels current() {
        return CURRENT;
    }
}
