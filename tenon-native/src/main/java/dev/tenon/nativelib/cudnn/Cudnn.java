package dev.tenon.nativelib.cudnn;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** cuDNN's functions. C names, C order of parameters, statuses as they come. */
public final class Cudnn {
    private Cudnn() {}

    public static int cudnnCreate(long handle) {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnCreate", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnDestroy(long handle) {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnDestroy", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnSetStream(long handle, long stream) {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnSetStream", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long cudnnGetVersion() {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnGetVersion", FunctionDescriptor.of(LONG));
        }
        try {
            return (long) Function.HANDLE.invokeExact();
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long cudnnGetErrorString(int status) {
        class Function {
            static final MethodHandle HANDLE =
                    CudnnLibrary.bind("cudnnGetErrorString", FunctionDescriptor.of(LONG, INT));
        }
        try {
            return (long) Function.HANDLE.invokeExact(status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnBackendCreateDescriptor(int type, long descriptor) {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnBackendCreateDescriptor", status(INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(type, descriptor);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnBackendDestroyDescriptor(long descriptor) {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnBackendDestroyDescriptor", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(descriptor);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnBackendFinalize(long descriptor) {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnBackendFinalize", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(descriptor);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnBackendSetAttribute(long descriptor, int name, int type, long count, long elements) {
        class Function {
            static final MethodHandle HANDLE =
                    CudnnLibrary.bind("cudnnBackendSetAttribute", status(LONG, INT, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(descriptor, name, type, count, elements);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnBackendGetAttribute(
            long descriptor, int name, int type, long requested, long count, long elements) {
        class Function {
            static final MethodHandle HANDLE =
                    CudnnLibrary.bind("cudnnBackendGetAttribute", status(LONG, INT, INT, LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(descriptor, name, type, requested, count, elements);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cudnnBackendExecute(long handle, long plan, long variantPack) {
        class Function {
            static final MethodHandle HANDLE = CudnnLibrary.bind("cudnnBackendExecute", status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle, plan, variantPack);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
