package dev.tenon.nativelib.cuda;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.invoke.MethodHandle;

/** Devices and the driver itself. C names, C order of parameters, statuses as they come. */
public final class CuDevice {
    private CuDevice() {}

    public static int cuInit(int flags) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuInit", 12000, status(INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDriverGetVersion(long version) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDriverGetVersion", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(version);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDeviceGetCount(long count) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDeviceGetCount", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(count);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDeviceGet(long device, int ordinal) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDeviceGet", 12000, status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(device, ordinal);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDeviceGetName(long name, int length, int device) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDeviceGetName", 12000, status(LONG, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(name, length, device);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDeviceGetAttribute(long value, int attribute, int device) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDeviceGetAttribute", 12000, status(LONG, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(value, attribute, device);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDeviceTotalMem(long bytes, int device) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDeviceTotalMem", 12000, status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(bytes, device);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuDeviceCanAccessPeer(long can, int device, int peer) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuDeviceCanAccessPeer", 12000, status(LONG, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(can, device, peer);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGetErrorName(int error, long name) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGetErrorName", 12000, status(INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(error, name);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGetErrorString(int error, long text) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGetErrorString", 12000, status(INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(error, text);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
