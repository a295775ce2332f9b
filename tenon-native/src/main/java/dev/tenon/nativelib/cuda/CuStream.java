package dev.tenon.nativelib.cuda;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.invoke.MethodHandle;

/** Streams and events. C names, C order of parameters, statuses as they come. */
public final class CuStream {
    private CuStream() {}

    public static int cuStreamCreate(long stream, int flags) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamCreate", 12000, status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream, flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuStreamCreateWithPriority(long stream, int flags, int priority) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuStreamCreateWithPriority", 12000, status(LONG, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream, flags, priority);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuStreamDestroy(long stream) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamDestroy", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuStreamSynchronize(long stream) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamSynchronize", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuStreamQuery(long stream) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamQuery", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuStreamWaitEvent(long stream, long event, int flags) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamWaitEvent", 12000, status(LONG, LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream, event, flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuEventCreate(long event, int flags) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuEventCreate", 12000, status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(event, flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuEventDestroy(long event) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuEventDestroy", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(event);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuEventRecord(long event, long stream) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuEventRecord", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(event, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuEventQuery(long event) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuEventQuery", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(event);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuEventSynchronize(long event) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuEventSynchronize", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(event);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuEventElapsedTime(long milliseconds, long from, long to) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuEventElapsedTime", 12000, status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(milliseconds, from, to);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
