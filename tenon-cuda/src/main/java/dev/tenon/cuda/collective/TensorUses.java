package dev.tenon.cuda.collective;

import dev.tenon.collective.Buffer;
import dev.tenon.collective.TensorBuffer;
import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.backend.GpuResident;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The tensors of one call: held from when they are named until the work on them is enqueued, which comes after all
 * earlier work on them and before all later. Used by one thread.
 */
final class TensorUses {
    private final RankState rank;
    private final GpuStream stream;
    /** Once for each hold. */
    private final List<GpuResident> held = new ArrayList<>(2);

    private final Set<GpuResident> changed = HashSet.newHashSet(2);
    private final List<GpuResident> entered = new ArrayList<>(2);

    TensorUses(RankState rank, GpuStream stream) {
        this.rank = rank;
        this.stream = stream;
    }

    /** A buffer that the call reads: of a tensor its place in this device's memory, any other as it is. */
    Buffer read(String operation, Buffer buffer) {
        return buffer instanceof TensorBuffer(Tensor tensor) ? slice(operation, tensor, false) : buffer;
    }

    /** The same for one that the call fills. */
    Buffer filled(String operation, Buffer buffer) {
        return buffer instanceof TensorBuffer(Tensor tensor) ? slice(operation, tensor, true) : buffer;
    }

    private DeviceSlice slice(String operation, Tensor tensor, boolean fill) {
        String what = operation + ": tensor " + tensor.type() + ", given to rank " + rank.nccl.rank;
        GpuContext context = rank.nccl.context;
        if (!(tensor.resident() instanceof GpuResident resident)
                || !resident.context().sameDevice(context)) {
            DeviceProperties here = context.device();
            throw new InputException(what + ", lies on "
                    + Objects.requireNonNull(tensor.resident()).device() + "; the rank is on device " + here.ordinal()
                    + " (" + here.name() + "): give it a tensor that the runtime of that device has made");
        }
        if (stream.capturing()) {
            throw new CaptureException(
                    what
                            + ", may be gone when the graph is replayed; capture collectives on DeviceSlices of memory that you keep as long as the graph");
        }
        try {
            DeviceBuffer memory = resident.hold();
            held.add(resident);
            if (fill) {
                changed.add(resident);
            }
            return new DeviceSlice(memory, 0, tensor.elements(), tensor.dtype());
        } catch (ClosedException e) {
            throw new ClosedException(what + ": " + e.getMessage(), e);
        }
    }

    /** Whether another call works on one of these tensors, but on another stream. */
    boolean crosses(TensorUses other) {
        return !stream.equals(other.stream) && held.stream().anyMatch(other.held::contains);
    }

    /** Enqueues the call's work in the tensors' order, and lets go of them. */
    void enqueue(Runnable work) {
        try {
            enter();
            work.run();
        } finally {
            leave();
        }
    }

    /** From now on what is enqueued is in order. */
    void enter() {
        for (GpuResident tensor : held) {
            if (!entered.contains(tensor)) { // in place it is held twice
                tensor.enter(stream);
                entered.add(tensor);
            }
        }
    }

    /** The work has been enqueued, or as much of it as could be. */
    void leave() {
        for (GpuResident tensor : entered) {
            try {
                tensor.mark(stream, changed.contains(tensor) ? rank.outcome : null);
                rank.used.add(tensor);
            } catch (TenonException e) { // the device is lost, as the next call says too
                System.getLogger(TensorUses.class.getName()).log(System.Logger.Level.DEBUG, "marking a tensor", e);
            }
        }
        entered.clear();
        release();
    }

    /** Lets go of the tensors of a call that is not made. Idempotent. */
    void release() {
        held.forEach(GpuResident::release);
        held.clear();
    }
}
