package dev.tenon.nativelib.cuda;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.invoke.MethodHandle;

/** Primary contexts. C names, C order of parameters, statuses as they come. */
public final class CuContext {
    private CuContext() {}

    public static int cuDevicePrimaryCtxRetain(long context, int device) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDevicePrimaryCtxRetain", 12000, status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(context, device);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDevicePrimaryCtxRelease(int device) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDevicePrimaryCtxRelease", 12000, status(INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(device);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDevicePrimaryCtxGetState(int device, long flags, long active) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuDevicePrimaryCtxGetState", 12000, status(INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(device, flags, active);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuCtxSetCurrent(long context) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuCtxSetCurrent", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(context);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuCtxSynchronize() {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuCtxSynchronize", 12000, status());
        }
        try {
            return (int) Function.HANDLE.invokeExact();
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuCtxGetStreamPriorityRange(long least, long greatest) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuCtxGetStreamPriorityRange", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(least, greatest);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuCtxEnablePeerAccess(long peer, int flags) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuCtxEnablePeerAccess", 12000, status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(peer, flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
