package dev.tenon.cuda.lower;

import dev.tenon.cuda.blas.BlasHandle;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import org.jspecify.annotations.Nullable;

/**
 * What the steps of one session and plan see: the stream, the address of every value, scratch memory. Addresses stay as they are for the life of a frame, so that captured work can be replayed. Used by one thread at a time.
 */
public final class Frame {
    private final GpuStream stream;
    private final KernelArguments arguments;
    private final long[] addresses;
    private final long workspace;
    private final long counters;
    private final long faults;
    private final @Nullable BlasHandle blas;

    public Frame(
            GpuStream stream,
            KernelArguments arguments,
            long[] addresses,
            long workspace,
            long counters,
            long faults,
            @Nullable BlasHandle blas) {
        this.stream = stream;
        this.arguments = arguments;
        this.addresses = addresses.clone();
        this.workspace = workspace;
        this.counters = counters;
        this.faults = faults;
        this.blas = blas;
    }

    public GpuStream stream() {
        return stream;
    }

    /** A slab to fill anew for each launch. */
    public KernelArguments arguments() {
        return arguments;
    }

    /** The device address of a value. */
    public long at(int slot) {
        return addresses[slot];
    }

    /** Scratch memory, at least the step's {@link Step#workspaceBytes}, on a 256-byte boundary. */
    public long workspace() {
        return workspace;
    }

    /** Zeroed memory for counters, at least the step's {@link Step#counterBytes}, on a 256-byte boundary. */
    public long counters() {
        return counters;
    }

    /** Where kernels report values that have no result (an index out of range): {@code report_fault} in tenon.cuh. The run then ends in a DataException that names the step's node. */
    public long faults() {
        return faults;
    }

    /** The session's handle for library calls, bound to its stream; only steps made with a library may ask. */
    public BlasHandle blas() {
        if (blas == null) {
            throw new IllegalStateException("the frame has no library handle");
        }
        return blas;
    }
}
