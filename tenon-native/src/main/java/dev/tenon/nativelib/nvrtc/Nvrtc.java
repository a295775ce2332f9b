package dev.tenon.nativelib.nvrtc;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** NVRTC's functions. C names, C order of parameters, statuses as they come. */
final class Nvrtc {
    private Nvrtc() {}

    public static int nvrtcVersion(long major, long minor) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcVersion", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(major, minor);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetNumSupportedArchs(long count) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetNumSupportedArchs", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(count);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetSupportedArchs(long numbers) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetSupportedArchs", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(numbers);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcCreateProgram(long program, long source, long name, int headers, long texts, long names) {
        class Function {
            static final MethodHandle HANDLE =
                    NvrtcLibrary.bind("nvrtcCreateProgram", status(LONG, LONG, LONG, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, source, name, headers, texts, names);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcDestroyProgram(long program) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcDestroyProgram", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcCompileProgram(long program, int options, long texts) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcCompileProgram", status(LONG, INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, options, texts);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetPTXSize(long program, long bytes) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetPTXSize", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetPTX(long program, long to) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetPTX", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, to);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetCUBINSize(long program, long bytes) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetCUBINSize", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetCUBIN(long program, long to) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetCUBIN", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, to);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetProgramLogSize(long program, long bytes) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetProgramLogSize", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int nvrtcGetProgramLog(long program, long to) {
        class Function {
            static final MethodHandle HANDLE = NvrtcLibrary.bind("nvrtcGetProgramLog", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(program, to);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long nvrtcGetErrorString(int status) {
        class Function {
            static final MethodHandle HANDLE =
                    NvrtcLibrary.bind("nvrtcGetErrorString", FunctionDescriptor.of(LONG, INT));
        }
        try {
            return (long) Function.HANDLE.invokeExact(status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
