package dev.tenon.cuda.lower.step;

import dev.tenon.core.backend.Program;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.blas.BlasHandle;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * What the steps of one session and plan see: the stream, the address of every value, workspace memory. Addresses stay
 * as they are for the life of a frame, so that captured work can be replayed. Used by one thread at a time.
 */
public final class GpuFrame {
    /**
     * Device addresses.
     *
     * @param values of every slot
     * @param workspace of workspace memory, on a 256-byte boundary
     * @param counters of zeroed memory, on a 256-byte boundary
     * @param faults of the word of faults
     */
    @SuppressWarnings("ArrayRecordComponent") // handed over once; a frame is never compared
    public record Addresses(long[] values, long workspace, long counters, long faults) {}

    private final GpuStream stream;
    private final KernelArguments arguments;
    private final long[] addresses;
    private final long workspace;
    private final long counters;
    private final long faults;
    private final BlasHandle blas;
    private final List<DeviceBuffer> buffers;
    private final HostRuns host;

    /** Runs programs of the CPU backend. */
    public interface HostRuns {
        /** @see Program#run */
        Tensor[] run(Program program, Tensor[] operands);
    }

    /**
     * Of addresses and memory.
     *
     * @param buffers those that values lie in, constants left out
     * @param host for steps without kernels
     */
    public GpuFrame(
            GpuStream stream,
            KernelArguments arguments,
            Addresses addresses,
            BlasHandle blas,
            List<DeviceBuffer> buffers,
            HostRuns host) {
        this.stream = stream;
        this.arguments = arguments;
        this.addresses = addresses.values.clone();
        this.workspace = addresses.workspace;
        this.counters = addresses.counters;
        this.faults = addresses.faults;
        this.blas = blas;
        this.buffers = List.copyOf(buffers);
        this.host = host;
    }

    /**
     * This frame with other values, for a step that is part of another.
     *
     * @param values addresses of every slot
     * @param workspace of workspace memory, on a 256-byte boundary
     */
    public GpuFrame over(long[] values, long workspace) {
        return new GpuFrame(stream, arguments, new Addresses(values, workspace, counters, faults), blas, buffers, host);
    }

    /** Copies a value's elements to the host; they are there once the stream has been waited for. */
    public void download(int slot, MemorySegment to) {
        if (to.byteSize() == 0) { // lies nowhere
            return;
        }
        DeviceBuffer buffer = bufferOf(slot);
        stream.copyToHost(buffer, at(slot) - buffer.address(), to);
    }

    /** Copies a value's elements from the host. */
    public void upload(MemorySegment from, int slot) {
        if (from.byteSize() == 0) {
            return;
        }
        DeviceBuffer buffer = bufferOf(slot);
        stream.copyToDevice(from, buffer, at(slot) - buffer.address());
    }

    /** Runs a program of the CPU backend. */
    public Tensor[] onHost(Program program, Tensor[] operands) {
        return host.run(program, operands);
    }

    private DeviceBuffer bufferOf(int slot) {
        long address = at(slot);
        return buffers.stream()
                .filter(buffer -> address >= buffer.address() && address < buffer.address() + buffer.bytes())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("slot " + slot + " is in no buffer of the session"));
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

    /** Workspace memory, at least the step's {@link GpuStep#workspaceBytes}, on a 256-byte boundary. */
    public long workspace() {
        return workspace;
    }

    /** Zeroed memory for counters, at least the step's {@link GpuStep#counterBytes}, on a 256-byte boundary. */
    public long counters() {
        return counters;
    }

    /**
     * Where kernels report values that have no result (an index out of range): {@code report_fault} in tenon.cuh. The
     * run then ends in a DataException that names the step's node.
     */
    public long faults() {
        return faults;
    }

    /** The session's handle for library calls, bound to its stream; only steps made with a library may ask. */
    public BlasHandle blas() {
        return blas;
    }
}
