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
    /** By input: the memory that it lies in; null on the host. */
    private final ArrayList<@Nullable DeviceBuffer> places = new ArrayList<>();
    /** Memory for results that stay on the device, until they are handed out. */
    private final List<DeviceMemory> results = new ArrayList<>();

    private boolean stay;
    private @Nullable PinnedBuffer pinned;

    /** @param arguments of the launches on the stream, to be filled anew */
    Transfers(GpuDevice device, GpuStream stream, KernelArguments arguments, GrowingMemory io, FaultWord faults) {
        this.device = device;
        this.stream = stream;
        this.arguments = arguments;
        this.io = io;
        this.faults = faults;
    }

    /**
     * Holds the inputs that lie on the device, and has memory for results that stay there.
     *
     * @param stay whether they do
     */
    void begin(GpuProgram program, Tensor[] inputs, boolean stay) {
        this.stay = stay;
        for (Tensor input : inputs) {
            GpuResident resident = GpuResident.of(input.resident(), device.context());
            if (resident != null) {
                held.ensureCapacity(held.size() + 1); // so that nothing can fail between the hold and its entry
                places.add(resident.hold());
                held.add(resident);
                resident.follow(stream);
            } else {
                places.add(null);
            }
        }
        if (stay) {
            for (TensorType type : program.io().outputs()) {
                results.add(device.forResult(type.bytes()));
            }
        }
    }

    /** Where the inputs and results of a run that has begun lie; null where pinned memory does not hold them. */
    @Nullable
    Ends ends(GpuProgram program) {
        IoLayout layout = program.io();
        boolean fromHost = places.contains(null);
        if (fromHost && !staged(layout) || !stay && layout.outputsEnd() > MOST_PINNED) {
            return null;
        }
        return new Ends(
                places.stream()
                        .mapToLong(buffer -> buffer == null ? 0 : buffer.address())
                        .toArray(),
                results.stream().mapToLong(memory -> memory.buffer().address()).toArray(),
                fromHost || !stay ? staging(wanted(layout)).address() : 0);
    }

    private static boolean staged(IoLayout layout) {
        return layout.bytes() - layout.inputsStart() <= MOST_PINNED;
    }

    /** As much as both ways want, so that it need not be replaced while a copy is under way. */
    private static long wanted(IoLayout layout) {
        long in = layout.bytes() - layout.inputsStart();
        return Math.max(in <= MOST_PINNED ? in : 0, layout.outputsEnd() <= MOST_PINNED ? layout.outputsEnd() : 0);
    }

    /** Brings inputs to pinned memory, from where recorded work copies them. */
    void stage(GpuProgram program, Tensor[] inputs) {
        IoLayout layout = program.io();
        MemorySegment staging = staging(wanted(layout));
        for (int i = 0; i < inputs.length; i++) {
            if (places.get(i) == null) {
                MemorySegment segment = inputs[i].segment();
                MemorySegment.copy(
                        segment, 0, staging, layout.inputOffset(i) - layout.inputsStart(), segment.byteSize());
            }
        }
    }

    /** The copies of staged inputs and of results, for work that is recorded for just these ends. */
    RecordedWork.Edges edges(GpuProgram program, Ends ends) {
        IoLayout layout = program.io();
        return new RecordedWork.Edges() {
            @Override
            public void before() {
                long start = layout.inputsStart();
                long from = staging(wanted(layout)).address();
                if (ends.fromHost() && !byKernel(program, from, io.address() + start, layout.bytes() - start)) {
                    copyStaged(layout);
                }
            }

            @Override
            public void behind() {
                MemorySegment to = staging(wanted(layout));
                if (ends.toHost() && !byKernel(program, io.address(), to.address(), layout.outputsEnd())) {
                    stream.copyToHost(io.buffer(), 0, to.asSlice(0, layout.outputsEnd()));
                }
            }
        };
    }

    private boolean byKernel(GpuProgram program, long from, long to, long bytes) {
        CopyKernel.Few few = program.inputCopies();
        if (few == null || !CopyKernel.Few.takesPinned(bytes)) {
            return false;
        }
        few.enqueuePinned(stream, arguments, new CopyKernel.Copy(from, to, bytes));
        return true;
    }

    private void copyStaged(IoLayout layout) {
        long start = layout.inputsStart();
        stream.copyToDevice(staging(wanted(layout)).asSlice(0, layout.bytes() - start), io.buffer(), start);
    }

    /** Enqueues the copies of all inputs; memory of the caller has been read when it returns. */
    void in(GpuProgram program, Tensor[] inputs) {
        IoLayout layout = program.io();
        if (!staged(layout)) {
            for (int i = 0; i < inputs.length; i++) {
                if (places.get(i) == null) {
                    stream.copyToDevice(inputs[i].segment(), io.buffer(), layout.inputOffset(i));
                }
            }
        } else if (places.contains(null)) {
            stage(program, inputs);
            copyStaged(layout);
        }
        residents(program, inputs); // after the one copy, which covers their places too
    }

    private void residents(GpuProgram program, Tensor[] inputs) {
        List<CopyKernel.Copy> copies = new ArrayList<>();
        List<DeviceBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < inputs.length; i++) {
            DeviceBuffer from = places.get(i);
            if (from != null) {
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
        places.clear();
        while (!held.isEmpty()) {
            held.removeLast().release();
        }
        while (!results.isEmpty()) {
            results.getLast().close();
            results.removeLast();
        }
    }

    /** Enqueues the copies of results that need not wait for anything else. */
    void back(GpuProgram program) {
        IoLayout layout = program.io();
        for (int i = 0; i < results.size(); i++) {
            DeviceMemory memory = results.get(i);
            long bytes = layout.outputs().get(i).bytes();
            stream.copy(io.buffer(), layout.outputOffset(i), memory.buffer(), 0, bytes);
        }
        if (!stay && layout.outputsEnd() <= MOST_PINNED) {
            stream.copyToHost(io.buffer(), 0, staging(layout.outputsEnd()));
        }
    }

    /**
     * Waits for the run and gives its results.
     *
     * @throws dev.tenon.core.error.DataException for a fault that a kernel reported @throws
     *     dev.tenon.core.error.CollectiveException when an input is what a failed collective left
     */
    Tensor[] out(GpuProgram program) {
        IoLayout layout = program.io();
        if (stay) {
            return kept(program, layout);
        }
        Tensor[] outputs = layout.outputs().stream().map(Tensor::zeros).toArray(Tensor[]::new);
        waitAndCheck(program);
        if (layout.outputsEnd() <= MOST_PINNED) {
            MemorySegment staging = staging(layout.outputsEnd());
            for (int i = 0; i < outputs.length; i++) {
                MemorySegment.copy(staging, layout.outputOffset(i), outputs[i].segment(), 0, outputs[i].byteSize());
            }
            return outputs;
        }
        for (int i = 0; i < outputs.length; i++) {
            stream.copyToHost(io.buffer(), layout.outputOffset(i), outputs[i].segment());
        }
        stream.synchronize();
        return outputs;
    }

    private Tensor[] kept(GpuProgram program, IoLayout layout) {
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
