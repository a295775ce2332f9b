package dev.tenon.cuda.driver;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.DeviceLostException;
import dev.tenon.core.error.TenonException;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuGraph;
import dev.tenon.nativelib.cuda.CuStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A stream's recording: at most one at a time, ended by the thread that began it. What cannot be recorded throws it
 * away and leaves the stream usable.
 */
final class StreamCapture {
    private final CudaStream stream;
    private final long handle;
    private final MemorySegment out = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
    /**
     * Held while capture begins or ends and while another thread waits for this stream: a wait would break a capture.
     */
    private final ReentrantLock lock = new ReentrantLock();

    private volatile boolean active;
    private @Nullable String broken;

    StreamCapture(CudaStream stream, long handle) {
        this.stream = stream;
        this.handle = handle;
    }

    boolean active() {
        return active;
    }

    /** Runs what no capture may begin or end beside. */
    void excluding(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    private void entered(Runnable work) {
        excluding(() -> {
            stream.enter();
            try {
                work.run();
            } finally {
                stream.exit();
            }
        });
    }

    void begin() {
        excluding(() -> {
            stream.enter();
            try {
                int mode = Thread.currentThread().isVirtual()
                        ? CuConstants.STREAM_CAPTURE_MODE_RELAXED
                        : CuConstants.STREAM_CAPTURE_MODE_THREAD_LOCAL;
                int status = CuGraph.cuStreamBeginCapture(handle, mode);
                if (status != 0) {
                    throw failure(status, "cuStreamBeginCapture()", "");
                }
            } finally {
                stream.exit();
            }
            broken = null;
            active = true;
            Capturing.begin(stream);
        });
    }

    /** Ends the recording; the driver's graph, which belongs to the caller. */
    long end() {
        if (!active) {
            String cause = broken;
            broken = null;
            throw new CaptureException(
                    cause == null ? stream.primary.name() + ": endCapture() without beginCapture()" : cause);
        }
        entered(() -> {
            int status = endDrivers();
            if (status != 0 || out.get(ValueLayout.JAVA_LONG, 0) == 0) {
                throw failure(
                        status, "cuStreamEndCapture()", "; a call that cannot be recorded was made on this thread");
            }
        });
        return out.get(ValueLayout.JAVA_LONG, 0);
    }

    private TenonException failure(int status, String call, String why) {
        TenonException failure = stream.primary.failure(status, call);
        return failure instanceof DeviceLostException
                ? failure
                : new CaptureException(failure.getMessage() + why, failure);
    }

    void abort() {
        broken = null;
        if (active) {
            entered(this::discard);
        }
    }

    /** Throws away what was recorded, and says why. */
    CaptureException refuse(String why) {
        abort();
        String message = stream.primary.name() + ": " + why + "; the recording is thrown away";
        broken = message;
        return new CaptureException(message);
    }

    /** Throws away what was recorded, because a call failed. */
    CaptureException endedBy(TenonException failure) {
        discard();
        String message = failure.getMessage() + "; the recording is thrown away";
        broken = message;
        return new CaptureException(message, failure);
    }

    /** Ends the driver's capture; the graph is in {@link #out}. */
    private int endDrivers() {
        out.set(ValueLayout.JAVA_LONG, 0, 0L);
        int status = CuGraph.cuStreamEndCapture(handle, out.address());
        if (status != CuStatus.STREAM_CAPTURE_WRONG_THREAD) {
            active = false;
            Capturing.end();
        }
        return status;
    }

    void discard() {
        boolean elsewhere = endDrivers() == CuStatus.STREAM_CAPTURE_WRONG_THREAD;
        stream.primary.check(
                elsewhere ? CuStatus.STREAM_CAPTURE_WRONG_THREAD : 0,
                "cuStreamEndCapture() on another thread than the one that began");
        long graph = out.get(ValueLayout.JAVA_LONG, 0);
        if (graph != 0) {
            stream.primary.check(CuGraph.cuGraphDestroy(graph), "cuGraphDestroy()");
        }
    }
}
