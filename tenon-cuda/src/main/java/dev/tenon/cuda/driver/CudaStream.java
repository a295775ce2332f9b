package dev.tenon.cuda.driver;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.DeviceLostException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.nativelib.cuda.CuGraph;
import dev.tenon.nativelib.cuda.CuMemory;
import dev.tenon.nativelib.cuda.CuModule;
import dev.tenon.nativelib.cuda.CuStatus;
import dev.tenon.nativelib.cuda.CuStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A non-blocking stream. */
final class CudaStream extends Owned implements GpuStream {
    private final long handle;
    private final Arena arena = Arena.ofAuto();
    private final LaunchConfig config = new LaunchConfig(arena);
    private final StreamCapture capture;
    /** By library: what tells it of the stream's end. */
    private final Map<Object, Runnable> told = new LinkedHashMap<>();

    CudaStream(CudaContext context, long handle) {
        super(context);
        this.handle = handle;
        this.capture = new StreamCapture(this, handle);
    }

    @Override
    public void launch(GpuFunction function, LaunchShape shape, KernelArguments arguments) {
        if (!(function instanceof CudaFunction kernel) || kernel.context().primary() != primary) {
            throw foreign("function " + function.name());
        }
        kernel.requireArguments(arguments);
        if (shape.clusterX() > 1) {
            kernel.allowCluster(shape.clusterX());
        }
        enter();
        try {
            int status = LaunchConfig.needed(shape)
                    ? CuModule.cuLaunchKernelEx(config.fill(shape, handle), kernel.handle(), arguments.pointers(), 0)
                    : CuModule.cuLaunchKernel(
                            kernel.handle(),
                            shape.gridX(),
                            shape.gridY(),
                            shape.gridZ(),
                            shape.blockX(),
                            shape.blockY(),
                            shape.blockZ(),
                            shape.sharedBytes(),
                            handle,
                            arguments.pointers(),
                            0);
            if (status != 0) {
                throw launchFailure(status, kernel, shape);
            }
            primary.launched(kernel);
        } finally {
            exit();
        }
    }

    private TenonException launchFailure(int status, CudaFunction kernel, LaunchShape shape) {
        TenonException failure = failure(status, "launch of %s, %s", kernel.name(), shape);
        return failure instanceof NativeException
                ? new NativeException(failure.getMessage() + LaunchLimits.broken(kernel, shape), failure)
                : failure;
    }

    @Override
    public void copyToDevice(MemorySegment from, DeviceBuffer to, long toOffset) {
        long bytes = from.byteSize();
        long target = CudaBuffer.range(to, toOffset, bytes, "copy to device");
        if (bytes == 0) {
            return;
        }
        HostMemoryCheck.check(from, false, "copy to device");
        CudaPinned pinned = from.isNative() ? CudaPinned.of(from) : null;
        refusePageable(pinned, "copy of " + bytes + " bytes of pageable memory to the device");
        try (Arena staging = Arena.ofConfined()) {
            MemorySegment source = from.isNative() ? from : HostMemoryCheck.copy(from, staging);
            enter();
            try {
                check(CuMemory.cuMemcpyHtoDAsync(target, source, bytes, handle), "cuMemcpyHtoDAsync(bytes=%d)", bytes);
                finish(pinned);
            } finally {
                exit();
            }
        }
    }

    @Override
    public void copyToHost(DeviceBuffer from, long fromOffset, MemorySegment to) {
        long bytes = to.byteSize();
        long source = CudaBuffer.range(from, fromOffset, bytes, "copy to host");
        if (bytes == 0) {
            return;
        }
        HostMemoryCheck.check(to, true, "copy to host");
        CudaPinned pinned = to.isNative() ? CudaPinned.of(to) : null;
        refusePageable(pinned, "copy of " + bytes + " bytes to pageable memory");
        try (Arena staging = Arena.ofConfined()) {
            MemorySegment target = to.isNative() ? to : staging.allocate(bytes, 16);
            enter();
            try {
                check(CuMemory.cuMemcpyDtoHAsync(target, source, bytes, handle), "cuMemcpyDtoHAsync(bytes=%d)", bytes);
                finish(pinned);
            } finally {
                exit();
            }
            if (!to.isNative()) {
                to.copyFrom(target);
            }
        }
    }

    /**
     * Copies of pageable memory are waited for: the driver only usually has staged them when the call returns, and
     * where devices read pageable memory by themselves not even that.
     */
    private void finish(@Nullable CudaPinned pinned) {
        if (pinned == null) {
            check(CuStream.cuStreamSynchronize(handle), "cuStreamSynchronize()");
        } else {
            pinned.usedBy(this);
        }
    }

    private void refusePageable(@Nullable CudaPinned pinned, String call) {
        if (pinned == null && capture.active()) {
            throw breakCapture(call + " cannot be recorded; use pinned memory");
        }
    }

    @Override
    public void copy(DeviceBuffer from, long fromOffset, DeviceBuffer to, long toOffset, long bytes) {
        long source = CudaBuffer.range(from, fromOffset, bytes, "copy");
        long target = CudaBuffer.range(to, toOffset, bytes, "copy");
        if (bytes == 0) {
            return;
        }
        enter();
        try {
            check(CuMemory.cuMemcpyDtoDAsync(target, source, bytes, handle), "cuMemcpyDtoDAsync(bytes=%d)", bytes);
        } finally {
            exit();
        }
    }

    @Override
    public void fill(DeviceBuffer buffer, long offset, long bytes, byte value) {
        long target = CudaBuffer.range(buffer, offset, bytes, "fill");
        if (bytes == 0) {
            return;
        }
        enter();
        try {
            check(CuMemory.cuMemsetD8Async(target, value, bytes, handle), "cuMemsetD8Async(bytes=%d)", bytes);
        } finally {
            exit();
        }
    }

    @Override
    public void call(Runnable calls) {
        enter();
        try {
            calls.run();
        } catch (TenonException e) {
            if (!capture.active()) {
                throw e;
            }
            throw capture.endedBy(e);
        } finally {
            exit();
        }
    }

    @Override
    public void record(GpuEvent event) {
        CudaEvent mark = own(event);
        enter();
        try {
            check(CuStream.cuEventRecord(mark.handle(), handle), "cuEventRecord()");
        } finally {
            exit();
        }
    }

    @Override
    public void await(GpuEvent event) {
        if (!(event instanceof CudaEvent mark)) {
            throw foreign("event");
        }
        if (recorded() && !capturing()) {
            tellLibraries(); // the event's capture goes on here
        }
        enter();
        try {
            check(CuStream.cuStreamWaitEvent(handle, mark.handle(), 0), "cuStreamWaitEvent()");
        } finally {
            exit();
        }
    }

    @Override
    public boolean idle() {
        refuseInCapture("cuStreamQuery()");
        enter();
        try {
            int status = CuStream.cuStreamQuery(handle);
            if (status == CuStatus.NOT_READY) {
                return false;
            }
            check(status, "cuStreamQuery()");
            return true;
        } finally {
            exit();
        }
    }

    @Override
    public void synchronize() {
        refuseInCapture("cuStreamSynchronize()");
        enter();
        try {
            check(CuStream.cuStreamSynchronize(handle), "cuStreamSynchronize()");
        } finally {
            exit();
        }
    }

    /**
     * Waits from any thread; passes over a stream that captures, whose work is not on its way, and one that is closed.
     */
    void synchronizeFromOutside() {
        capture.excluding(() -> {
            if (!capture.active() && !closed()) {
                primary.makeCurrent();
                primary.check(CuStream.cuStreamSynchronize(handle), "cuStreamSynchronize()");
            }
        });
    }

    @Override
    public void beginCapture() {
        refuseInCapture("beginCapture()");
        CudaStream other = Capturing.here();
        if (other != null) {
            throw other.breakCapture("beginCapture() of another stream on the same thread cannot be recorded");
        }
        tellLibraries();
        capture.begin();
    }

    @Override
    public boolean capturing() {
        return capture.active();
    }

    @Override
    public boolean recorded() {
        return Capturing.here() != null;
    }

    @Override
    public CapturedGraph endCapture() {
        return context.adopt(new CudaGraph(context, capture.end()));
    }

    @Override
    public void abortCapture() {
        capture.abort();
    }

    /** Throws away what was recorded, and says why. */
    CaptureException breakCapture(String why) {
        return capture.refuse(why);
    }

    private void refuseInCapture(String call) {
        if (capture.active()) {
            throw breakCapture(call + " cannot be recorded");
        }
    }

    @Override
    public void launch(ExecutableGraph graph) {
        if (!(graph instanceof CudaExecutableGraph executable) || executable.primary != primary) {
            throw foreign("graph");
        }
        enter();
        try {
            int status = CuGraph.cuGraphLaunch(executable.handle(), handle);
            if (status != 0) {
                throw failure(status, "cuGraphLaunch(%d nodes)", executable.nodes());
            }
        } finally {
            exit();
        }
    }

    @Override
    public long handle() {
        requireOpen();
        return handle;
    }

    private void check(int status, String call, Object... arguments) {
        if (status != 0) {
            throw failure(status, call, arguments);
        }
    }

    /**
     * During capture every failed call ends it: a refused copy need not make the driver's capture invalid, and the
     * graph would silently lack it.
     */
    private TenonException failure(int status, String call, Object... arguments) {
        TenonException failure = primary.failure(status, call, arguments);
        return !capture.active() || failure instanceof DeviceLostException ? failure : capture.endedBy(failure);
    }

    private CudaEvent own(GpuEvent event) {
        if (!(event instanceof CudaEvent mark) || mark.primary != primary) {
            throw foreign("event");
        }
        return mark;
    }

    private InputException foreign(String what) {
        return new InputException(what + " is not of " + primary.name());
    }

    @Override
    String kind() {
        return "stream";
    }

    @Override
    public void beforeLeaving(Object library, Runnable action) {
        synchronized (told) {
            told.putIfAbsent(library, action);
        }
    }

    @Override
    void beforeDestroy() {
        if (!primary.healthy()) {
            return;
        }
        if (capture.active()) {
            primary.destroying("capture", capture::discard);
        }
        tellLibraries();
    }

    private void tellLibraries() {
        List<Runnable> actions;
        synchronized (told) {
            actions = List.copyOf(told.values());
        }
        actions.forEach(Runnable::run);
    }

    @Override
    void destroy() {
        // waits holding the lock, so that no other thread is still within synchronizeFromOutside
        capture.excluding(() -> {
            primary.makeCurrent(); // waiting for the lock may have moved a virtual thread to another carrier
            int status = CuStream.cuStreamSynchronize(handle);
            primary.check(CuStream.cuStreamDestroy(handle), "cuStreamDestroy()");
            primary.check(status, "cuStreamSynchronize() before closing the stream");
        });
    }
}
