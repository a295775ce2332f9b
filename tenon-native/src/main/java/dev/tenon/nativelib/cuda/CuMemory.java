package dev.tenon.nativelib.cuda;

import static dev.tenon.nativelib.Downcalls.ADDRESS;
import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Memory, copies and tensor maps. Host memory of the caller is a segment, so that the call keeps it alive. C names, C
 * order of parameters, statuses as they come.
 */
public final class CuMemory {
    private CuMemory() {}

    /** Host memory that the driver has handed out, usable until the arena closes. */
    @SuppressWarnings("restricted") // the driver says that it is there
    public static MemorySegment hostMemory(long address, long bytes, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
    }

    public static int cuMemGetInfo(long free, long total) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuMemGetInfo", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(free, total);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemAlloc(long pointer, long bytes) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuMemAlloc", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(pointer, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemFree(long pointer) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuMemFree", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(pointer);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemHostAlloc(long pointer, long bytes, int flags) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuMemHostAlloc", 12000, status(LONG, LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(pointer, bytes, flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemFreeHost(long pointer) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuMemFreeHost", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(pointer);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemcpyHtoDAsync(long to, MemorySegment from, long bytes, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuMemcpyHtoDAsync", 12000, status(LONG, ADDRESS, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(to, from, bytes, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemcpyDtoHAsync(MemorySegment to, long from, long bytes, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuMemcpyDtoHAsync", 12000, status(ADDRESS, LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(to, from, bytes, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemcpyDtoDAsync(long to, long from, long bytes, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuMemcpyDtoDAsync", 12000, status(LONG, LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(to, from, bytes, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuMemsetD8Async(long to, byte value, long bytes, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuMemsetD8Async", 12000, status(LONG, ValueLayout.JAVA_BYTE, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(to, value, bytes, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuTensorMapEncodeTiled(
            MemorySegment map,
            int type,
            int rank,
            long address,
            long sizes,
            long strides,
            long box,
            long elementStrides,
            int interleave,
            int swizzle,
            int promotion,
            int fill) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind(
                    "cuTensorMapEncodeTiled",
                    12000,
                    status(ADDRESS, INT, INT, LONG, LONG, LONG, LONG, LONG, INT, INT, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    map,
                    type,
                    rank,
                    address,
                    sizes,
                    strides,
                    box,
                    elementStrides,
                    interleave,
                    swizzle,
                    promotion,
                    fill);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuTensorMapEncodeIm2col(
            MemorySegment map,
            int type,
            int rank,
            long address,
            long sizes,
            long strides,
            long lowerCorner,
            long upperCorner,
            int channels,
            int pixels,
            long elementStrides,
            int interleave,
            int swizzle,
            int promotion,
            int fill) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind(
                    "cuTensorMapEncodeIm2col",
                    12000,
                    status(ADDRESS, INT, INT, LONG, LONG, LONG, LONG, LONG, INT, INT, LONG, INT, INT, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    map,
                    type,
                    rank,
                    address,
                    sizes,
                    strides,
                    lowerCorner,
                    upperCorner,
                    channels,
                    pixels,
                    elementStrides,
                    interleave,
                    swizzle,
                    promotion,
                    fill);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
