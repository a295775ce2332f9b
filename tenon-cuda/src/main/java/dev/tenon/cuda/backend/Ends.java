package dev.tenon.cuda.backend;

import java.util.Arrays;

/**
 * Where a run's inputs and results lie, which recorded work is made for. Immutable.
 *
 * @param inputs device addresses; 0 of an input on the host
 * @param outputs device addresses of results that stay there; none where results go to the host
 * @param pinned the address of the host memory that inputs and results pass through; 0 where none do
 */
@SuppressWarnings("ArrayRecordComponent") // compared by elements
record Ends(long[] inputs, long[] outputs, long pinned) {
    /** The device address of an input, or else. */
    long input(int index, long otherwise) {
        return inputs[index] == 0 ? otherwise : inputs[index];
    }

    /** The device address of a result, or else. */
    long output(int index, long otherwise) {
        return outputs.length == 0 ? otherwise : outputs[index];
    }

    /** Whether some inputs come from the host. */
    boolean fromHost() {
        return Arrays.stream(inputs).anyMatch(address -> address == 0);
    }

    boolean toHost() {
        return outputs.length == 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ends ends
                && Arrays.equals(inputs, ends.inputs)
                && Arrays.equals(outputs, ends.outputs)
                && pinned == ends.pinned;
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(inputs) + Arrays.hashCode(outputs) + Long.hashCode(pinned);
    }
}
