package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Brings a run's inputs to the session's memory and its outputs from there: through pinned memory in one asynchronous
 * copy each way; from and to the caller's own memory where there is too much for that; on the device where a tensor
 * lies there. Used by one thread at a time.
 */
final class Transfers implements AutoCloseable {
    /** Host memory that a session pins at most. */
    private static final long MOST_PINNED = 32 << 20;

    private final GpuDevice device;
    private final GpuStream stream;
    private final KernelArguments arguments;
    private final GrowingMemory io;
    private final FaultWord faults;
    private final ArrayList<GpuResident> held = new ArrayList<>();
    /** Memory for results that stay on the device, until they are handed out. */
    private final List<DeviceMemory> results = new ArrayList<>();

    private @Nullable PinnedBuffer pinned;

    /** @param arguments of the launches on the stream, to be filled anew */
    Transfers(GpuDevice device, GpuStream stream, KernelArguments arguments, GrowingMemory io, FaultWord faults) {
        this.device = device;
        this.stream = stream;
        this.arguments = arguments;
        this.io = io;
        this.faults = faults;
    }

    /** Enqueues the copies of all inputs; memory of the caller has been read when it returns. */
    void in(GpuProgram program, Tensor[] inputs) {
        IoLayout layout = program.io();
        long start = layout.inputsStart();
        long bytes = layout.bytes() - start;
        boolean anyOnHost = false;
        boolean staged = bytes <= MOST_PINNED;
        // as much as the way back will want, so that it need not be replaced while this copy is under way
        long wanted = Math.max(bytes, layout.outputsEnd() <= MOST_PINNED ? layout.outputsEnd() : 0);
        MemorySegment staging = staged ? staging(wanted) : MemorySegment.NULL;
        for (int i = 0; i < inputs.length; i++) {
            long offset = layout.inputOffset(i);
            if (GpuResident.of(inputs[i].resident(), device.context()) != null) {
                continue;
            }
            MemorySegment segment = inputs[i].segment();
            if (staged) {
                MemorySegment.copy(segment, 0, staging, offset - start, segment.byteSize());
                anyOnHost = true;
            } else {
                stream.copyToDevice(segment, io.buffer(), offset);
            }
        }
        if (anyOnHost) {
            stream.copyToDevice(staging.asSlice(0, bytes), io.buffer(), start);
        }
        residents(program, inputs); // after the one copy, which covers their places too
    }

    private void residents(GpuProgram program, Tensor[] inputs) {
        List<CopyKernel.Copy> copies = new ArrayList<>();
        List<DeviceBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < inputs.length; i++) {
            GpuResident resident = GpuResident.of(inputs[i].resident(), device.context());
            if (resident != null) {
                held.ensureCapacity(held.size() + 1); // so that nothing can fail between the hold and its entry
                DeviceBuffer from = resident.hold();
                held.add(resident);
                resident.follow(stream);
                buffers.add(from);
                copies.add(new CopyKernel.Copy(
                        from.address(), io.address() + program.io().inputOffset(i), inputs[i].byteSize()));
            }
        }
        CopyKernel.Few few = program.inputCopies();
        if (few != null && !copies.isEmpty() && CopyKernel.Few.takes(copies)) {
            few.enqueue(stream, arguments, copies);
            return;
        }
        for (int i = 0; i < copies.size(); i++) {
            CopyKernel.Copy copy = copies.get(i);
            stream.copy(buffers.get(i), 0, io.buffer(), copy.to() - io.address(), copy.bytes());
        }
    }

    /**
     * Lets go of the inputs that lie on the device, and of the results of a run that failed. Nothing that uses them may
     * still be under way.
     */
    void release() {
        while (!held.isEmpty()) {
            held.removeLast().release();
        }
        while (!results.isEmpty()) {
            results.getLast().close();
            results.removeLast();
        }
    }

    /**
     * Waits for the run and gives its results.
     *
     * @throws dev.tenon.core.error.DataException for a fault that a kernel reported @throws
     *     dev.tenon.core.error.CollectiveException when an input is what a failed collective left
     */
    Tensor[] out(GpuProgram program, boolean stay) {
        IoLayout layout = program.io();
        if (stay) {
            return kept(program, layout);
        }
        Tensor[] outputs = layout.outputs().stream().map(Tensor::zeros).toArray(Tensor[]::new);
        if (layout.outputsEnd() <= MOST_PINNED) {
            MemorySegment staging = staging(layout.outputsEnd());
            stream.copyToHost(io.buffer(), 0, staging);
            waitAndCheck(program);
            for (int i = 0; i < outputs.length; i++) {
                MemorySegment.copy(staging, layout.outputOffset(i), outputs[i].segment(), 0, outputs[i].byteSize());
            }
            return outputs;
        }
        waitAndCheck(program);
        for (int i = 0; i < outputs.length; i++) {
            stream.copyToHost(io.buffer(), layout.outputOffset(i), outputs[i].segment());
        }
        stream.synchronize();
        return outputs;
    }

    private Tensor[] kept(GpuProgram program, IoLayout layout) {
        for (int i = 0; i < layout.outputs().size(); i++) {
            TensorType type = layout.outputs().get(i);
            DeviceMemory memory = device.forResult(type.bytes());
            results.add(memory);
            stream.copy(io.buffer(), layout.outputOffset(i), memory.buffer(), 0, type.bytes());
        }
        waitAndCheck(program);
        Tensor[] outputs = new Tensor[results.size()];
        try {
            for (int i = outputs.length - 1; i >= 0; i--) {
                // the tensor's from here on
                outputs[i] =
                        device.tensor(results.removeLast(), layout.outputs().get(i));
            }
        } catch (RuntimeException | Error e) {
            for (@Nullable Tensor made : outputs) {
                if (made != null) {
                    Closing.after(e, made::close);
                }
            }
            throw e;
        }
        return outputs;
    }

    private void waitAndCheck(GpuProgram program) {
        stream.synchronize();
        held.forEach(GpuResident::requireGood);
        faults.check(program);
    }

    /** Pinned memory of that size, or the session's one larger piece cut to it. */
    private MemorySegment staging(long bytes) {
        if (pinned == null || pinned.segment().byteSize() < bytes) {
            close();
            pinned = device.context().allocatePinned(Math.max(bytes, 1 << 12));
        }
        return pinned.segment().asSlice(0, bytes);
    }

    @Override
    public void close() {
        if (pinned != null) {
            pinned.close();
            pinned = null;
        }
    }
}
