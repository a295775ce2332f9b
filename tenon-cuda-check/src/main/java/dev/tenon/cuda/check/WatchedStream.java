package dev.tenon.cuda.check;

import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;

/** A stream that notes how much shared memory its launches give a block. Used by one thread. */
final class WatchedStream implements GpuStream {
    private final GpuStream stream;
    private int sharedBytes;

    WatchedStream(GpuStream stream) {
        this.stream = stream;
    }

    /** The most that a block had since the last call, static and dynamic. */
    int takeSharedBytes() {
        int most = sharedBytes;
        sharedBytes = 0;
        return most;
    }

    @Override
    public void launch(GpuFunction function, LaunchShape shape, KernelArguments arguments) {
        sharedBytes = Math.max(sharedBytes, function.resources().sharedBytes() + shape.sharedBytes());
        stream.launch(function, shape, arguments);
    }

    @Override
    public void copyToDevice(MemorySegment from, DeviceBuffer to, long toOffset) {
        stream.copyToDevice(from, to, toOffset);
    }

    @Override
    public void copyToHost(DeviceBuffer from, long fromOffset, MemorySegment to) {
        stream.copyToHost(from, fromOffset, to);
    }

    @Override
    public void copy(DeviceBuffer from, long fromOffset, DeviceBuffer to, long toOffset, long bytes) {
        stream.copy(from, fromOffset, to, toOffset, bytes);
    }

    @Override
    public void fill(DeviceBuffer buffer, long offset, long bytes, byte value) {
        stream.fill(buffer, offset, bytes, value);
    }

    @Override
    public void call(Runnable calls) {
        stream.call(calls);
    }

    @Override
    public void beforeLeaving(Object library, Runnable action) {
        stream.beforeLeaving(library, action);
    }

    @Override
    public boolean recorded() {
        return stream.recorded();
    }

    @Override
    public void record(GpuEvent event) {
        stream.record(event);
    }

    @Override
    public void await(GpuEvent event) {
        stream.await(event);
    }

    @Override
    public boolean idle() {
        return stream.idle();
    }

    @Override
    public void synchronize() {
        stream.synchronize();
    }

    @Override
    public void beginCapture() {
        stream.beginCapture();
    }

    @Override
    public boolean capturing() {
        return stream.capturing();
    }

    @Override
    public CapturedGraph endCapture() {
        return stream.endCapture();
    }

    @Override
    public void abortCapture() {
        stream.abortCapture();
    }

    @Override
    public void launch(ExecutableGraph graph) {
        stream.launch(graph);
    }

    @Override
    public void close() {
        stream.close();
    }

    @Override
    public long handle() {
        return stream.handle();
    }
}
