package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.VectorAssembler.Arithmetic;

/**
 * The largest and the smallest of a row's whole vectors, as {@link MachineRows#key keys}, which put -0 before 0 and NaN
 * outside the infinities: instructions that compare floats drop a NaN when a number follows.
 */
final class ExtremesCode extends RowCode {
    ExtremesCode(int lanes) {
        super(lanes, false, true);
    }

    @Override
    void begin() {
        vectors.constant(8, Float.intBitsToFloat(Integer.MIN_VALUE));
        vectors.constant(9, Float.intBitsToFloat(Integer.MAX_VALUE));
        vectors.move(10, 9);
    }

    @Override
    void vector(boolean narrow) {
        if (narrow) {
            return; // the caller gives whole vectors
        }
        vectors.signs(1, 0);
        operate(Arithmetic.AND, 1, 1, 10);
        operate(Arithmetic.XOR, 0, 0, 1);
        operate(Arithmetic.MAXIMUM_INTEGERS, 8, 8, 0);
        operate(Arithmetic.MINIMUM_INTEGERS, 9, 9, 0);
    }
}
