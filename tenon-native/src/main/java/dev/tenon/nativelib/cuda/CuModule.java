package dev.tenon.nativelib.cuda;

import static dev.tenon.nativelib.Downcalls.ADDRESS;
import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Modules and functions. C names, C order of parameters, statuses as they come. */
public final class CuModule {
    private CuModule() {}

    public static int cuModuleLoadDataEx(long module, MemorySegment image, int options, long names, long values) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuModuleLoadDataEx", 12000, status(LONG, ADDRESS, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(module, image, options, names, values);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuModuleUnload(long module) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuModuleUnload", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(module);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuModuleGetFunction(long function, long module, long name) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuModuleGetFunction", 12000, status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(function, module, name);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuModuleGetFunctionCount(long count, long module) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuModuleGetFunctionCount", 12040, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(count, module);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuModuleEnumerateFunctions(long functions, int most, long module) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuModuleEnumerateFunctions", 12040, status(LONG, INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(functions, most, module);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuFuncGetName(long name, long function) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuFuncGetName", 12030, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(name, function);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuFuncGetParamInfo(long function, long index, long offset, long bytes) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuFuncGetParamInfo", 12040, status(LONG, LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(function, index, offset, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuFuncGetAttribute(long value, int attribute, long function) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuFuncGetAttribute", 12000, status(LONG, INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(value, attribute, function);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuFuncSetAttribute(long function, int attribute, int value) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuFuncSetAttribute", 12000, status(LONG, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(function, attribute, value);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuOccupancyMaxActiveBlocksPerMultiprocessor(
            long blocks, long function, int threads, long sharedBytes) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuOccupancyMaxActiveBlocksPerMultiprocessor", 12000, status(LONG, LONG, INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(blocks, function, threads, sharedBytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuOccupancyMaxActiveClusters(long clusters, long function, long config) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuOccupancyMaxActiveClusters", 12000, status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(clusters, function, config);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuLaunchKernel(
            long function,
            int gridX,
            int gridY,
            int gridZ,
            int blockX,
            int blockY,
            int blockZ,
            int sharedBytes,
            long stream,
            MemorySegment parameters,
            long extra) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind(
                    "cuLaunchKernel", 12000, status(LONG, INT, INT, INT, INT, INT, INT, INT, LONG, ADDRESS, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, parameters, extra);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuLaunchKernelEx(long config, long function, MemorySegment parameters, long extra) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuLaunchKernelEx", 12000, status(LONG, LONG, ADDRESS, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(config, function, parameters, extra);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
