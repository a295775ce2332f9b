package dev.tenon.cuda.dnn;

import dev.tenon.core.backend.Closing;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.nativelib.cudnn.Cudnn;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The handle on which calls are enqueued, and the stream that it was told of last. Thread-safe with {@link #lock} held.
 */
final class DnnCaller {
    private final GpuContext device;
    private final ReentrantLock lock = new ReentrantLock();
    /**
     * The handle's while none of those that it is called on is safe: when it is told of another one, the library
     * records an event on the one before, and where another thread captures that one meanwhile the driver (580.159)
     * ends the process by a signal. So does the default stream, which a handle begins with.
     */
    private final GpuStream home;

    private final long handle;
    private long bound;
    private boolean closed;

    /** @param withoutRecording held meanwhile: no thread records work */
    DnnCaller(GpuContext device, Lock withoutRecording) {
        this.device = device;
        withoutRecording.lock();
        try {
            home = device.newStream();
            try {
                handle = DnnMakers.newHandle(device, withoutRecording);
                device.call(this::bindHome);
            } catch (RuntimeException | Error e) {
                Closing.after(e, home::close);
                throw e;
            }
        } finally {
            withoutRecording.unlock();
        }
    }

    long handle() {
        return handle;
    }

    /** Held from when the handle is told of a stream until the call on it has been made. */
    ReentrantLock lock() {
        return lock;
    }

    /** Sees to it that the handle leaves a stream that it is about to be told of, before others may not touch it. */
    void follow(GpuStream stream) {
        long followed = stream.handle();
        if (followed != bound) {
            stream.beforeLeaving(this, () -> leave(followed));
        }
    }

    /** Tells the handle of no stream that others use, within a call. */
    void bindHome() {
        bind(home.handle());
    }

    /** Tells the handle of a stream, within a call on it. */
    void bind(long stream) {
        if (stream != bound) {
            CudnnLibrary.CHECK.check(Cudnn.cudnnSetStream(handle, stream), "cudnnSetStream()");
            bound = stream;
        }
    }

    private void leave(long stream) {
        lock.lock();
        try {
            if (!closed && bound == stream) {
                device.call(this::bindHome);
            }
        } finally {
            lock.unlock();
        }
    }

    /** With no work being recorded; a stream that another thread closes has the handle leave it. Idempotent. */
    void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            try {
                if (device.healthy()) {
                    device.call(() -> CudnnLibrary.CHECK.check(Cudnn.cudnnDestroy(handle), "cudnnDestroy()"));
                }
            } finally {
                home.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
