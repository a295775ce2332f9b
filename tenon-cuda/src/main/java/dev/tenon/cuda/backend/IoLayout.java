package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Signature;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import java.util.List;

/**
 * Where a program's inputs and outputs lie in one stretch of a session's memory: the outputs, which one copy brings to
 * the host, then the inputs, which one copy brings to the device.
 */
final class IoLayout {
    private static final long ALIGNMENT = 256;

    private final Signature signature;
    private final long[] inputOffsets;
    private final long[] outputOffsets;
    private final long outputsEnd;
    private final long inputsStart;
    private final long end;

    IoLayout(Signature signature) {
        this.signature = signature;
        List<TensorType> inputs = signature.inputs();
        List<TensorType> outputs = signature.outputs();
        outputOffsets = new long[outputs.size()];
        inputOffsets = new long[inputs.size()];
        outputsEnd = place(outputs, outputOffsets, 0);
        inputsStart = aligned(outputsEnd);
        // never 0, so that copies of nothing have memory to name
        end = Math.max(ALIGNMENT, aligned(place(inputs, inputOffsets, inputsStart)));
    }

    /** Gives each an offset from {@code at} on; the end of the last. */
    private static long place(List<TensorType> types, long[] offsets, long at) {
        long next = at;
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = aligned(next);
            next = SizeMath.sum("inputs and outputs", offsets[i], types.get(i).bytes());
        }
        return next;
    }

    private static long aligned(long bytes) {
        return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
    }

    Signature signature() {
        return signature;
    }

    List<TensorType> inputs() {
        return signature.inputs();
    }

    List<TensorType> outputs() {
        return signature.outputs();
    }

    long inputOffset(int index) {
        return inputOffsets[index];
    }

    long outputOffset(int index) {
        return outputOffsets[index];
    }

    /** Where the outputs end; they start at 0. */
    long outputsEnd() {
        return outputsEnd;
    }

    long inputsStart() {
        return inputsStart;
    }

    long bytes() {
        return end;
    }
}
