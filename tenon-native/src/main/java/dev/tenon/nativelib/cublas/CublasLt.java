package dev.tenon.nativelib.cublas;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** cuBLASLt's functions. C names, C order of parameters, statuses as they come. */
public final class CublasLt {
    private CublasLt() {}

    public static int cublasLtCreate(long handle) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtCreate", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtDestroy(long handle) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtDestroy", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulDescCreate(long desc, int computeType, int scaleType) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtMatmulDescCreate", status(LONG, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(desc, computeType, scaleType);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulDescSetAttribute(long desc, int attribute, long value, long bytes) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bindLt("cublasLtMatmulDescSetAttribute", status(LONG, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(desc, attribute, value, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulDescDestroy(long desc) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtMatmulDescDestroy", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(desc);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatrixLayoutCreate(long layout, int type, long rows, long columns, long ld) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bindLt("cublasLtMatrixLayoutCreate", status(LONG, INT, LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(layout, type, rows, columns, ld);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatrixLayoutSetAttribute(long layout, int attribute, long value, long bytes) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bindLt("cublasLtMatrixLayoutSetAttribute", status(LONG, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(layout, attribute, value, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatrixLayoutDestroy(long layout) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtMatrixLayoutDestroy", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(layout);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulPreferenceCreate(long preference) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtMatmulPreferenceCreate", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(preference);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulPreferenceSetAttribute(long preference, int attribute, long value, long bytes) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bindLt("cublasLtMatmulPreferenceSetAttribute", status(LONG, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(preference, attribute, value, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulPreferenceDestroy(long preference) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtMatmulPreferenceDestroy", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(preference);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulAlgoGetHeuristic(
            long handle,
            long desc,
            long layoutA,
            long layoutB,
            long layoutC,
            long layoutD,
            long preference,
            int wanted,
            long results,
            long found) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt(
                    "cublasLtMatmulAlgoGetHeuristic",
                    status(LONG, LONG, LONG, LONG, LONG, LONG, LONG, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    handle, desc, layoutA, layoutB, layoutC, layoutD, preference, wanted, results, found);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmulAlgoCheck(
            long handle, long desc, long layoutA, long layoutB, long layoutC, long layoutD, long algo, long result) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt(
                    "cublasLtMatmulAlgoCheck", status(LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle, desc, layoutA, layoutB, layoutC, layoutD, algo, result);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasLtMatmul(
            long handle,
            long desc,
            long alpha,
            long a,
            long layoutA,
            long b,
            long layoutB,
            long beta,
            long c,
            long layoutC,
            long d,
            long layoutD,
            long algo,
            long workspace,
            long workspaceBytes,
            long stream) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt(
                    "cublasLtMatmul",
                    status(
                            LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG,
                            LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    handle,
                    desc,
                    alpha,
                    a,
                    layoutA,
                    b,
                    layoutB,
                    beta,
                    c,
                    layoutC,
                    d,
                    layoutD,
                    algo,
                    workspace,
                    workspaceBytes,
                    stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long cublasLtGetVersion() {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bindLt("cublasLtGetVersion", FunctionDescriptor.of(LONG));
        }
        try {
            return (long) Function.HANDLE.invokeExact();
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long cublasLtGetStatusString(int status) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bindLt("cublasLtGetStatusString", FunctionDescriptor.of(LONG, INT));
        }
        try {
            return (long) Function.HANDLE.invokeExact(status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long cublasLtGetStatusName(int status) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bindLt("cublasLtGetStatusName", FunctionDescriptor.of(LONG, INT));
        }
        try {
            return (long) Function.HANDLE.invokeExact(status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
