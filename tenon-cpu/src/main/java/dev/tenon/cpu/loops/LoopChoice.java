package dev.tenon.cpu.loops;

/**
 * Which loops run: machine code where it can, before vector loops where those can be loaded, which take each loop into
 * use by itself.
 */
final class LoopChoice {
    private static final Loops CURRENT = MachineLoops.before(Vectors.available() ? new VectorLoops() : new Loops());

    private LoopChoice() {}

    static Loops current() {
        return CURRENT;
    }
}
