package dev.tenon.collective;

import dev.tenon.core.ir.DType;

/**
 * Elements of one type that a collective reads or writes: in host memory a {@link HostBuffer}, of a tensor on a device
 * a {@link TensorBuffer}; a device's module brings its own, with the communicator that understands it.
 */
public interface Buffer {
    DType dtype();

    /** Number of elements. */
    long length();
}
