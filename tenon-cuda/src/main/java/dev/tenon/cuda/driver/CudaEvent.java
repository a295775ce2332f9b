package dev.tenon.cuda.driver;

import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.nativelib.cuda.CuStatus;
import dev.tenon.nativelib.cuda.CuStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A mark in a stream. */
final class CudaEvent extends Owned implements GpuEvent {
    private static final double MICROSECONDS = 1000;

    private final long handle;
    private final boolean timing;

    CudaEvent(CudaContext context, long handle, boolean timing) {
        super(context);
        this.handle = handle;
        this.timing = timing;
    }

    long handle() {
        requireOpen();
        return handle;
    }

    @Override
    public boolean passed() {
        Capturing.refuse("cuEventQuery()");
        enter();
        try {
            int status = CuStream.cuEventQuery(handle);
            if (status == CuStatus.NOT_READY) {
                return false;
            }
            primary.check(status, "cuEventQuery()");
            return true;
        } finally {
            exit();
        }
    }

    @Override
    public void synchronize() {
        Capturing.refuse("cuEventSynchronize()");
        enter();
        try {
            primary.check(CuStream.cuEventSynchronize(handle), "cuEventSynchronize()");
        } finally {
            exit();
        }
    }

    @Override
    public double microsecondsSince(GpuEvent earlier) {
        if (!(earlier instanceof CudaEvent from) || !from.timing || !timing) {
            throw new InputException(primary.name() + ": both events must be made with timing");
        }
        Capturing.refuse("cuEventElapsedTime()");
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment milliseconds = arena.allocate(ValueLayout.JAVA_FLOAT);
            primary.check(
                    CuStream.cuEventElapsedTime(milliseconds.address(), from.handle(), handle), "cuEventElapsedTime()");
            return milliseconds.get(ValueLayout.JAVA_FLOAT, 0) * MICROSECONDS;
        } finally {
            exit();
        }
    }

    @Override
    String kind() {
        return "event";
    }

    @Override
    void destroy() {
        primary.check(CuStream.cuEventDestroy(handle), "cuEventDestroy()");
    }
}
