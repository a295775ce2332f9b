package dev.tenon.cuda.driver;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.options.StreamPriority;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.cuda.port.PinnedBuffer;
import dev.tenon.cuda.port.TensorMap;
import dev.tenon.cuda.port.WindowMap;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuContext;
import dev.tenon.nativelib.cuda.CuDevice;
import dev.tenon.nativelib.cuda.CuMemory;
import dev.tenon.nativelib.cuda.CuStatus;
import dev.tenon.nativelib.cuda.CuStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;
import java.util.function.ToIntFunction;

/** A hold on a device's primary context, and all that was made through it. */
final class CudaContext implements GpuContext {
    private static final long PAUSE_NANOS = 20_000;

    private final DeviceProperties device;
    private final PrimaryContext primary;
    private final CallGate gate = new CallGate();
    private final Set<Owned> owned = ConcurrentHashMap.newKeySet();
    private final AtomicLong held = new AtomicLong();

    CudaContext(DeviceProperties device) {
        this.device = device;
        this.primary = PrimaryContext.retain(device.ordinal(), DeviceList.handle(device.ordinal()));
    }

    PrimaryContext primary() {
        return primary;
    }

    /** Takes a finished object into the care of this context; within a section, so that a close does not miss it. */
    <T extends Owned> T adopt(T one) {
        owned.add(one);
        return one;
    }

    void release(Owned one) {
        owned.remove(one);
    }

    void holds(long bytes) {
        held.addAndGet(bytes);
    }

    @Override
    public DeviceProperties device() {
        return device;
    }

    @Override
    public boolean healthy() {
        return primary.healthy();
    }

    @Override
    public MemoryInfo memoryInfo() {
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, 2);
            primary.check(CuMemory.cuMemGetInfo(sizes.address(), sizes.address() + Long.BYTES), "cuMemGetInfo()");
            return new MemoryInfo(
                    sizes.getAtIndex(ValueLayout.JAVA_LONG, 0), sizes.getAtIndex(ValueLayout.JAVA_LONG, 1));
        } finally {
            exit();
        }
    }

    @Override
    public DeviceBuffer allocate(long bytes) {
        return memory(
                bytes,
                "cuMemAlloc",
                out -> CuMemory.cuMemAlloc(out.address(), Math.max(1, bytes)),
                address -> new CudaBuffer(this, address, bytes),
                CuMemory::cuMemFree);
    }

    @Override
    public PinnedBuffer allocatePinned(long bytes) {
        return memory(
                bytes,
                "cuMemHostAlloc",
                out -> CuMemory.cuMemHostAlloc(out.address(), Math.max(1, bytes), CuConstants.MEMHOSTALLOC_PORTABLE),
                address -> new CudaPinned(this, address, bytes),
                CuMemory::cuMemFreeHost);
    }

    private <T extends Owned> T memory(
            long bytes,
            String call,
            ToIntFunction<MemorySegment> allocation,
            LongFunction<T> object,
            LongToIntFunction undo) {
        if (bytes < 0) {
            throw new InputException(primary.name() + ": " + bytes + " bytes asked for; expected 0 or more");
        }
        Capturing.refuse(call + "(bytes=" + bytes + ")");
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int status = allocation.applyAsInt(out);
            if (status == CuStatus.OUT_OF_MEMORY) {
                throw new OutOfMemoryException(
                        primary.name() + ": " + call + ": " + bytes + " bytes asked for, " + primary.memoryText() + ", "
                                + held.get() + " held here",
                        bytes);
            }
            primary.check(status, "%s(bytes=%d)", call, bytes);
            return owned(out.get(ValueLayout.JAVA_LONG, 0), object, undo);
        } finally {
            exit();
        }
    }

    @Override
    public GpuStream newStream(StreamPriority priority) {
        return made(
                "cuStreamCreate",
                out -> switch (priority) {
                    case NORMAL -> CuStream.cuStreamCreate(out.address(), CuConstants.STREAM_NON_BLOCKING);
                    case HIGH ->
                        CuStream.cuStreamCreateWithPriority(
                                out.address(), CuConstants.STREAM_NON_BLOCKING, greatestPriority());
                },
                handle -> new CudaStream(this, handle),
                CuStream::cuStreamDestroy);
    }

    /** The smaller the number, the sooner a stream is served. */
    private int greatestPriority() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment greatest = arena.allocate(ValueLayout.JAVA_INT);
            primary.check(
                    CuContext.cuCtxGetStreamPriorityRange(0, greatest.address()), "cuCtxGetStreamPriorityRange()");
            return greatest.get(ValueLayout.JAVA_INT, 0);
        }
    }

    @Override
    public GpuEvent newEvent(boolean timing) {
        return made(
                "cuEventCreate",
                out -> CuStream.cuEventCreate(
                        out.address(), timing ? CuConstants.EVENT_DEFAULT : CuConstants.EVENT_DISABLE_TIMING),
                handle -> new CudaEvent(this, handle, timing),
                CuStream::cuEventDestroy);
    }

    private <T extends Owned> T made(
            String call, ToIntFunction<MemorySegment> creation, LongFunction<T> object, LongToIntFunction undo) {
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            primary.check(creation.applyAsInt(out), "%s()", call);
            return owned(out.get(ValueLayout.JAVA_LONG, 0), object, undo);
        } finally {
            exit();
        }
    }

    /**
     * Makes the object that owns what the driver has made; what finds no owner, for want of heap, goes back at once.
     */
    private <T extends Owned> T owned(long made, LongFunction<T> object, LongToIntFunction undo) {
        try {
            return adopt(object.apply(made));
        } catch (RuntimeException | Error e) {
            int _ = undo.applyAsInt(made);
            throw e;
        }
    }

    @Override
    public GpuModule load(ModuleImage image) throws ImageRejected {
        Capturing.refuse("cuModuleLoadDataEx(" + image.name() + ")");
        enter();
        try {
            return adopt(CudaModule.load(this, image));
        } finally {
            exit();
        }
    }

    @Override
    public MemorySegment encode(TensorMap map) {
        if (device.architecture().major() < 9) {
            return GpuContext.super.encode(map);
        }
        enter();
        try {
            return TensorMapEncoder.encode(primary, map);
        } finally {
            exit();
        }
    }

    @Override
    public MemorySegment encode(WindowMap map) {
        if (device.architecture().major() < 9) {
            return GpuContext.super.encode(map);
        }
        enter();
        try {
            return TensorMapEncoder.encode(primary, map);
        } finally {
            exit();
        }
    }

    @Override
    public void linkMaps() {
        if (device.architecture().major() < 9) {
            return;
        }
        enter();
        try {
            TensorMapEncoder.link();
        } finally {
            exit();
        }
    }

    @Override
    public boolean sameDevice(GpuContext other) {
        return other instanceof CudaContext context && context.primary == primary;
    }

    @Override
    public boolean canAccess(GpuContext peer) {
        if (!(peer instanceof CudaContext other) || other.primary.device() == primary.device()) {
            return false;
        }
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment can = arena.allocate(ValueLayout.JAVA_INT);
            primary.check(
                    CuDevice.cuDeviceCanAccessPeer(can.address(), primary.device(), other.primary.device()),
                    "cuDeviceCanAccessPeer(%s, %s)",
                    primary.name(),
                    other.primary.name());
            return can.get(ValueLayout.JAVA_INT, 0) != 0;
        } finally {
            exit();
        }
    }

    @Override
    public void enableAccess(GpuContext peer) {
        if (!(peer instanceof CudaContext other) || other.primary.device() == primary.device()) {
            throw new InputException(primary.name() + ": " + peer.device().name() + " is no peer of it");
        }
        other.enter();
        try {
            enter();
            try {
                int status = CuContext.cuCtxEnablePeerAccess(other.primary.handle(), 0);
                if (status != CuStatus.PEER_ACCESS_ALREADY_ENABLED) {
                    primary.check(status, "cuCtxEnablePeerAccess(%s to %s)", primary.name(), other.primary.name());
                }
            } finally {
                exit();
            }
        } finally {
            other.exit();
        }
    }

    @Override
    public void makeCurrent() {
        enter();
        exit();
    }

    @Override
    public void keep() {
        primary.keep();
    }

    @Override
    public void abandon(String why) {
        primary.keep();
        primary.abandon(why);
    }

    /** Stream by stream: a wait for the whole context would break the captures of other threads. */
    @Override
    public void synchronize() {
        Capturing.refuse("synchronize()");
        enter();
        try {
            for (Owned one : owned) {
                if (one instanceof CudaStream stream) {
                    stream.synchronizeFromOutside();
                }
            }
        } finally {
            exit();
        }
    }

    @Override
    public void call(Runnable calls) {
        enter();
        try {
            calls.run();
        } finally {
            exit();
        }
    }

    @Override
    public void close() {
        if (!gate.close(primary::abandoned)) {
            return;
        }
        // streams wait for their work; graphs, modules and memory are not in use afterwards
        owned.stream().filter(CudaStream.class::isInstance).forEach(Owned::close);
        owned.forEach(Owned::close);
        while (!owned.isEmpty() && !primary.abandoned()) {
            LockSupport.parkNanos(PAUSE_NANOS); // closed by another thread at this very moment
        }
        primary.release();
    }

    private void enter() {
        if (!gate.enter()) {
            throw new ClosedException(primary.name() + ": the context is closed");
        }
        try {
            primary.makeCurrent();
        } catch (RuntimeException | Error e) {
            gate.exit();
            throw e;
        }
    }

    private void exit() {
        gate.exit();
    }
}
