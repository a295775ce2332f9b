package dev.tenon.nativelib.cublas;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** cuBLAS's functions. C names, C order of parameters, statuses as they come. */
public final class Cublas {
    private Cublas() {}

    public static int cublasCreate(long handle) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bind("cublasCreate_v2", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasDestroy(long handle) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bind("cublasDestroy_v2", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasSetStream(long handle, long stream) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bind("cublasSetStream_v2", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasSetWorkspace(long handle, long workspace, long bytes) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bind("cublasSetWorkspace_v2", status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle, workspace, bytes);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasSetMathMode(long handle, int mode) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bind("cublasSetMathMode", status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle, mode);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasGetVersion(long handle, long version) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bind("cublasGetVersion_v2", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(handle, version);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cublasGemmStridedBatchedEx(
            long handle,
            int transA,
            int transB,
            long m,
            long n,
            long k,
            long alpha,
            long a,
            int typeA,
            long lda,
            long strideA,
            long b,
            int typeB,
            long ldb,
            long strideB,
            long beta,
            long c,
            int typeC,
            long ldc,
            long strideC,
            long batches,
            int computeType,
            int algo) {
        class Function {
            static final MethodHandle HANDLE = CublasLibrary.bind(
                    "cublasGemmStridedBatchedEx_64",
                    status(
                            LONG, INT, INT, LONG, LONG, LONG, LONG, LONG, INT, LONG, LONG, LONG, INT, LONG, LONG, LONG,
                            LONG, INT, LONG, LONG, LONG, INT, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    handle,
                    transA,
                    transB,
                    m,
                    n,
                    k,
                    alpha,
                    a,
                    typeA,
                    lda,
                    strideA,
                    b,
                    typeB,
                    ldb,
                    strideB,
                    beta,
                    c,
                    typeC,
                    ldc,
                    strideC,
                    batches,
                    computeType,
                    algo);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long cublasGetStatusString(int status) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bind("cublasGetStatusString", FunctionDescriptor.of(LONG, INT));
        }
        try {
            return (long) Function.HANDLE.invokeExact(status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static long cublasGetStatusName(int status) {
        class Function {
            static final MethodHandle HANDLE =
                    CublasLibrary.bind("cublasGetStatusName", FunctionDescriptor.of(LONG, INT));
        }
        try {
            return (long) Function.HANDLE.invokeExact(status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
