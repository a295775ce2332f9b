package dev.tenon.emulator;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.NativeException;
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
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** An open emulated device. Thread-safe. */
final class EmulatedContext implements GpuContext {
    private final EmulatedDevice device;
    private final Set<AutoCloseable> held = ConcurrentHashMap.newKeySet();
    private final Set<Capture> captures = ConcurrentHashMap.newKeySet();
    private boolean closed;

    EmulatedContext(EmulatedDevice device) {
        this.device = device;
    }

    EmulatedDevice shared() {
        return device;
    }

    @Override
    public DeviceProperties device() {
        return device.properties();
    }

    @Override
    public boolean healthy() {
        return device.healthy();
    }

    @Override
    public MemoryInfo memoryInfo() {
        device.check();
        return device.memoryInfo();
    }

    @Override
    public DeviceBuffer allocate(long bytes) {
        refuseInCapture("memory allocation");
        return hold(() -> new EmulatedBuffer(this, bytes));
    }

    @Override
    public PinnedBuffer allocatePinned(long bytes) {
        refuseInCapture("allocation of pinned memory");
        return hold(() -> new EmulatedPinned(this, bytes));
    }

    @Override
    public GpuStream newStream(StreamPriority priority) {
        return hold(() -> new EmulatedStream(this));
    }

    @Override
    public GpuEvent newEvent(boolean timing) {
        device.check();
        return new EmulatedEvent(this, timing);
    }

    @Override
    public GpuModule load(ModuleImage image) throws ImageRejected {
        if (image.format() != ModuleImage.Format.OBJECT) {
            throw new ImageRejected("emulator: " + image.name() + " is " + image.format()
                    + "; the emulator runs objects of its own compiler");
        }
        return hold(() -> new EmulatedModule(this, image));
    }

    private synchronized <T extends AutoCloseable> T hold(Supplier<T> maker) {
        if (closed) {
            throw new ClosedException("the emulator's context is closed");
        }
        device.check();
        T made = maker.get();
        try {
            held.add(made);
        } catch (Error e) {
            closeQuietly(made);
            throw e;
        }
        return made;
    }

    /** @return whether it was held, once */
    boolean forget(AutoCloseable closing) {
        return held.remove(closing);
    }

    /** Whether copies from or to it are asynchronous. */
    boolean pinned(MemorySegment segment) {
        return held.stream().anyMatch(each -> each instanceof EmulatedPinned pinned && pinned.holds(segment));
    }

    void captureBegun(Capture capture) {
        captures.add(capture);
    }

    void captureEnded(Capture capture) {
        captures.remove(capture);
    }

    /**
     * A call that breaks this thread's capture, if there is one.
     *
     * @throws dev.tenon.core.error.CaptureException naming it
     */
    void refuseInCapture(String call) {
        for (Capture capture : captures) {
            if (capture.byThisThread()) {
                throw capture.breakWith(call);
            }
        }
    }

    @Override
    public boolean sameDevice(GpuContext other) {
        return other instanceof EmulatedContext context && context.device.equals(device);
    }

    @Override
    public boolean canAccess(GpuContext peer) {
        return peer instanceof EmulatedContext;
    }

    @Override
    public void enableAccess(GpuContext peer) {
        if (!canAccess(peer)) {
            throw new NativeException("emulator: no access to the memory of another platform");
        }
    }

    @Override
    public void synchronize() {
        refuseInCapture("context synchronize");
        for (AutoCloseable each : held) {
            if (each instanceof EmulatedStream stream) {
                stream.drain();
            }
        }
        device.check();
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // streams first: their work uses the rest
        List<AutoCloseable> all = List.copyOf(held);
        all.stream().filter(EmulatedStream.class::isInstance).forEach(EmulatedContext::closeQuietly);
        all.stream().filter(each -> !(each instanceof EmulatedStream)).forEach(EmulatedContext::closeQuietly);
        device.release();
    }

    private static void closeQuietly(AutoCloseable each) {
        try {
            each.close();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e); // none of ours throws another one
        }
    }
}
