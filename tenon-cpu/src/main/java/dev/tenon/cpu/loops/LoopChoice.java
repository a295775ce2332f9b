package dev.tenon.cpu.loops;

/** Which kernels run: the ones with vector loops, where those can be loaded; they take each loop into use by itself. */
final class LoopChoice {
    private static final Loops CURRENT = Vectors.available() ? new VectorLoops() : new Loops();

    private LoopChoice() {}

    static Loops current() {
        return CURRENT;
    }
}
