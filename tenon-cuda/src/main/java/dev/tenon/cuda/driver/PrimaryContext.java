package dev.tenon.cuda.driver;

import dev.tenon.core.error.DeviceLostException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.TenonException;
import dev.tenon.nativelib.StatusCheck;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuContext;
import dev.tenon.nativelib.cuda.CuGraph;
import dev.tenon.nativelib.cuda.CuMemory;
import dev.tenon.nativelib.cuda.CuStatus;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A device's primary context while something of ours holds it, and the fault that lost it. All {@link CudaContext}s of
 * a device share one, since a fault takes them all.
 */
final class PrimaryContext {
    private static final System.Logger LOG = System.getLogger(PrimaryContext.class.getName());
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Map<Integer, PrimaryContext> HELD = new HashMap<>();

    private final int ordinal;
    private final int device;
    private final long handle;
    private int holders = 1;
    private volatile @Nullable String fault;
    private volatile boolean abandoned;
    /**
     * For the message when a kernel faults, which comes out of a later call. A hint: written without order by all
     * streams.
     */
    private @Nullable CudaFunction lastLaunched;

    private PrimaryContext(int ordinal, int device, long handle) {
        this.ordinal = ordinal;
        this.device = device;
        this.handle = handle;
    }

    /**
     * @throws DeviceLostException while contexts that a fault has lost are still open, and when the driver cannot
     *     recover
     */
    static PrimaryContext retain(int ordinal, int device) {
        LOCK.lock();
        try {
            PrimaryContext held = HELD.get(ordinal);
            if (held != null) {
                if (held.fault != null) {
                    throw new DeviceLostException(
                            held.fault + "; close everything that is open on " + held.name() + ", then open it anew");
                }
                held.holders++;
                return held;
            }
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment context = arena.allocate(ValueLayout.JAVA_LONG);
                int status = CuContext.cuDevicePrimaryCtxRetain(context.address(), device);
                if (status != 0) {
                    String message = CuStatus.CHECK.message(status, "cuDevicePrimaryCtxRetain(device=%d)", ordinal);
                    throw CuStatus.loses(status)
                            ? new DeviceLostException(message + "; the driver does not recover in this process")
                            : status == CuStatus.OUT_OF_MEMORY
                                    ? new OutOfMemoryException(message)
                                    : new NativeException(message);
                }
                held = new PrimaryContext(ordinal, device, context.get(ValueLayout.JAVA_LONG, 0));
            }
            HELD.put(ordinal, held);
            return held;
        } finally {
            LOCK.unlock();
        }
    }

    /** One hold more, which nobody gives up. */
    void keep() {
        LOCK.lock();
        try {
            holders++;
        } finally {
            LOCK.unlock();
        }
    }

    /** From now on nothing is asked of the driver here, and calls in flight are not waited for. */
    void abandon(String why) {
        LOCK.lock();
        try {
            if (fault == null) {
                fault = name() + ": " + why + "; the context is lost";
            }
            abandoned = true;
        } finally {
            LOCK.unlock();
        }
    }

    boolean abandoned() {
        return abandoned;
    }

    /**
     * Gives up one hold; the last releases the context. When that destroys it, it takes what a fault has left behind
     * along.
     */
    void release() {
        LOCK.lock();
        try {
            if (--holders > 0) {
                return;
            }
            HELD.remove(ordinal);
            int status = CuContext.cuDevicePrimaryCtxRelease(device);
            if (status != 0 && fault == null && status != CuStatus.DEINITIALIZED) {
                LOG.log(Level.WARNING, CuStatus.CHECK.message(status, "cuDevicePrimaryCtxRelease(device=%d)", ordinal));
            }
        } finally {
            LOCK.unlock();
        }
    }

    /** {@code cuda:0}. */
    String name() {
        return "cuda:" + ordinal;
    }

    int device() {
        return device;
    }

    long handle() {
        return handle;
    }

    boolean healthy() {
        return fault == null;
    }

    void launched(CudaFunction function) {
        lastLaunched = function;
    }

    /** @throws DeviceLostException at once when a fault has lost the context */
    void makeCurrent() {
        String lost = fault;
        if (lost != null) {
            throw new DeviceLostException(lost);
        }
        int status = CuContext.cuCtxSetCurrent(handle);
        if (status != 0) {
            throw failure(status, "cuCtxSetCurrent(%s)", name());
        }
    }

    void check(int status, String call, Object... arguments) {
        if (status != 0) {
            throw failure(status, call, arguments);
        }
    }

    /** What a failed call becomes; the context is current. A fault that loses the context is kept. */
    TenonException failure(int status, String call, Object... arguments) {
        String message = name() + ": " + CuStatus.CHECK.message(status, call, arguments);
        if (CuStatus.loses(status)) {
            return lost(message);
        }
        if (status == CuStatus.OUT_OF_MEMORY) {
            return new OutOfMemoryException(message + "; " + memoryText());
        }
        return NativeException.of(message, StatusCheck.function(call), status);
    }

    private DeviceLostException lost(String message) {
        CudaFunction last = lastLaunched;
        String text = message + (last == null ? "" : " (last kernel launched: " + last.name() + ")")
                + "; the context is lost";
        LOCK.lock();
        try {
            if (fault == null) {
                fault = text;
            }
            return new DeviceLostException(text);
        } finally {
            LOCK.unlock();
        }
    }

    /** {@code 5 of 80 bytes free}, for messages. */
    String memoryText() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, 2);
            return CuMemory.cuMemGetInfo(sizes.address(), sizes.address() + Long.BYTES) == 0
                    ? sizes.getAtIndex(ValueLayout.JAVA_LONG, 0) + " of " + sizes.getAtIndex(ValueLayout.JAVA_LONG, 1)
                            + " bytes free"
                    : "free memory unknown";
        }
    }

    /** Runs a destruction with the context current; quiet when the context is lost, for then the release does it. */
    void destroying(String kind, Runnable destruction) {
        if (fault != null) {
            return;
        }
        try {
            makeCurrent();
            if (Capturing.here() == null || Thread.currentThread().isVirtual()) {
                destruction.run();
            } else {
                relaxed(destruction);
            }
        } catch (TenonException e) {
            // a close that throws would hide what happened before it
            LOG.log(Level.WARNING, "closing a " + kind + ": " + e.getMessage());
        }
    }

    /** Frees would break a capture of this thread in its thread-local mode, though nothing about them is recorded. */
    private void relaxed(Runnable destruction) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mode = arena.allocate(ValueLayout.JAVA_INT);
            mode.set(ValueLayout.JAVA_INT, 0, CuConstants.STREAM_CAPTURE_MODE_RELAXED);
            check(CuGraph.cuThreadExchangeStreamCaptureMode(mode.address()), "cuThreadExchangeStreamCaptureMode()");
            try {
                destruction.run();
            } finally {
                check(CuGraph.cuThreadExchangeStreamCaptureMode(mode.address()), "cuThreadExchangeStreamCaptureMode()");
            }
        }
    }
}
