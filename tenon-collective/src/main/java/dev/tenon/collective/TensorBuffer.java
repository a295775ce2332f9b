package dev.tenon.collective;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Tensor;

/**
 * The elements of a tensor in a device's memory, for communicators of that device.
 *
 * @param tensor the caller's, who may close it as soon as the call has returned: its memory stays until the work on it
 *     is done
 */
public record TensorBuffer(Tensor tensor) implements Buffer {
    public TensorBuffer {
        Require.nonNull(tensor, "tensor");
    }

    /**
     * A tensor's elements: of one in host memory the {@link HostBuffer} over them, so that every communicator takes it.
     */
    public static Buffer of(Tensor tensor) {
        ArgumentChecks.requireGiven("TensorBuffer.of", "tensor", tensor);
        return tensor.resident() == null ? HostBuffer.of(tensor.segment(), tensor.dtype()) : new TensorBuffer(tensor);
    }

    @Override
    public DType dtype() {
        return tensor.dtype();
    }

    @Override
    public long length() {
        return tensor.elements();
    }

    /** Such as {@code 5 f32}; the elements stay where they are. */
    @Override
    public String toString() {
        return length() + " " + dtype();
    }
}
