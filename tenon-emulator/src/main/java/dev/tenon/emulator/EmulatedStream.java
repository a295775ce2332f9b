package dev.tenon.emulator;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.nativelib.emulated.EmulatorLibrary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A queue of work and, while it captures, the recording. */
final class EmulatedStream implements GpuStream {
    private final EmulatedContext context;
    private final WorkQueue queue;
    private volatile @Nullable Capture capture;
    private boolean closed;

    EmulatedStream(EmulatedContext context) {
        this.context = context;
        queue = new WorkQueue(context.shared());
    }

    @Override
    public void launch(GpuFunction function, LaunchShape shape, KernelArguments arguments) {
        context.shared().check();
        if (!(function instanceof EmulatedFunction own)) {
            throw new NativeException("emulator: a function of another platform: "
                    + function.getClass().getName());
        }
        Limits.check(own, shape, arguments.count(), context.device());
        enqueue(new Work.Launch(own, shape, values(own, arguments)));
    }

    /** The bytes of all arguments, one behind the other: the function knows their sizes. */
    private static MemorySegment values(EmulatedFunction function, KernelArguments arguments) {
        List<Integer> sizes = function.entry().parameterBytes();
        MemorySegment values = MemorySegment.ofArray(
                new byte[sizes.stream().mapToInt(Integer::intValue).sum()]);
        int at = 0;
        for (int i = 0; i < sizes.size(); i++) {
            long address = arguments.pointers().getAtIndex(ValueLayout.JAVA_LONG, i);
            MemorySegment.copy(EmulatorLibrary.memory(address, sizes.get(i)), 0, values, at, sizes.get(i));
            at += sizes.get(i);
        }
        return values;
    }

    @Override
    public void copyToDevice(MemorySegment from, DeviceBuffer to, long toOffset) {
        context.shared().check();
        EmulatedBuffer buffer = EmulatedBuffer.of(to, toOffset, from.byteSize(), "copy to device");
        if (context.pinned(from)) {
            enqueue(new Work.ToDevice(from, buffer, toOffset));
            return;
        }
        refusePageable("copy from pageable memory");
        MemorySegment staged = MemorySegment.ofArray(from.toArray(ValueLayout.JAVA_BYTE));
        enqueue(new Work.ToDevice(staged, buffer, toOffset));
    }

    @Override
    public void copyToHost(DeviceBuffer from, long fromOffset, MemorySegment to) {
        context.shared().check();
        EmulatedBuffer buffer = EmulatedBuffer.of(from, fromOffset, to.byteSize(), "copy to host");
        if (context.pinned(to)) {
            enqueue(new Work.ToHost(buffer, fromOffset, to));
            return;
        }
        refusePageable("copy to pageable memory");
        // through memory of our own: the caller's may be confined to its thread
        MemorySegment staged = MemorySegment.ofArray(new byte[SizeMath.toInt("copy of a stream", to.byteSize())]);
        enqueue(new Work.ToHost(buffer, fromOffset, staged));
        synchronize();
        to.copyFrom(staged);
    }

    private void refusePageable(String call) {
        Capture recording = capture;
        if (recording != null) {
            throw recording.breakWith(call);
        }
    }

    @Override
    public void copy(DeviceBuffer from, long fromOffset, DeviceBuffer to, long toOffset, long bytes) {
        context.shared().check();
        EmulatedBuffer source = EmulatedBuffer.of(from, fromOffset, bytes, "copy");
        EmulatedBuffer target = EmulatedBuffer.of(to, toOffset, bytes, "copy");
        enqueue(new Work.OnDevice(source, fromOffset, target, toOffset, bytes));
    }

    @Override
    public void fill(DeviceBuffer buffer, long offset, long bytes, byte value) {
        context.shared().check();
        EmulatedBuffer own = EmulatedBuffer.of(buffer, offset, bytes, "fill");
        enqueue(new Work.Fill(own, offset, bytes, value));
    }

    @Override
    public void call(Runnable calls) {
        throw new UnsupportedException("the emulator has no libraries of CUDA's");
    }

    @Override
    public void record(GpuEvent event) {
        context.shared().check();
        EmulatedEvent own = EmulatedEvent.of(event);
        Capture recording = capture;
        long number = own.next(recording, this);
        enqueue(new Work.Mark(own, number));
    }

    @Override
    public void await(GpuEvent event) {
        context.shared().check();
        EmulatedEvent own = EmulatedEvent.of(event);
        Capture recording = own.capture();
        if (recording != null) {
            recording.await(this, own);
            return;
        }
        Capture here = capture;
        if (here != null) {
            throw here.breakWith("a wait for an event that was recorded outside of the capture");
        }
        enqueue(new Work.Wait(own, own.last()));
    }

    private void enqueue(Work work) {
        Capture recording = capture;
        if (recording != null) {
            recording.add(this, work);
        } else {
            queue.add(work);
        }
    }

    @Override
    public boolean idle() {
        refuse("stream query");
        context.shared().check();
        return queue.idle();
    }

    @Override
    public void synchronize() {
        refuse("stream synchronize");
        queue.drain();
        context.shared().check();
    }

    /** Waits, whatever the state of the device. */
    void drain() {
        queue.drain();
    }

    private void refuse(String call) {
        Capture recording = capture;
        if (recording != null) {
            throw recording.breakWith(call);
        }
        context.refuseInCapture(call);
    }

    @Override
    public void beginCapture() {
        context.shared().check();
        if (capture != null) {
            throw new CaptureException("emulator: the stream captures already");
        }
        Capture begun = new Capture(this);
        capture = begun;
        context.captureBegun(begun);
    }

    @Override
    public boolean capturing() {
        return capture != null;
    }

    @Override
    public CapturedGraph endCapture() {
        Capture recording = capture;
        if (recording == null || !recording.begunBy(this)) {
            throw new CaptureException("emulator: the stream began no capture");
        }
        capture = null;
        context.captureEnded(recording);
        return new RecordedGraph(context.shared(), recording.end());
    }

    @Override
    public void abortCapture() {
        Capture recording = capture;
        if (recording != null && recording.begunBy(this)) {
            capture = null;
            context.captureEnded(recording);
            recording.close();
        }
    }

    void joinCapture(Capture other) {
        capture = other;
    }

    void leaveCapture() {
        capture = null;
    }

    @Override
    public void launch(ExecutableGraph graph) {
        context.shared().check();
        Capture recording = capture;
        if (recording != null) {
            throw recording.breakWith("a launch of a graph");
        }
        ReplayableGraph own = ReplayableGraph.of(graph);
        queue.add(new Work.Replay(own, own.work()));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            abortCapture();
            queue.close();
            context.forget(this);
        }
    }

    /** There is nothing that a native library could use. */
    @Override
    public long handle() {
        return 0;
    }
}
