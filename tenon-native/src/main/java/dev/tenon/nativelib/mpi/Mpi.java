package dev.tenon.nativelib.mpi;

import static dev.tenon.nativelib.Downcalls.rethrow;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.MethodHandle;

/**
 * MPI's functions: C names, C order of parameters, pointers and handles as addresses, statuses as they come. Each is
 * bound when it is first called.
 *
 * <p>Thread-safety: what MPI was initialised for. Every method throws a {@link dev.tenon.core.error.NativeException}
 * when there is no Open MPI.
 */
public final class Mpi {
    private Mpi() {}

    public static int MPI_Init_thread(long argc, long argv, int required, long provided) {
        class Function {
            static final MethodHandle HANDLE =
                    MpiLibrary.function("MPI_Init_thread", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(argc, argv, required, provided);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Initialized(long flag) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Initialized", JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(flag);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Finalized(long flag) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Finalized", JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(flag);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Finalize() {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Finalize");
        }
        try {
            return (int) Function.HANDLE.invokeExact();
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Abort(long comm, int code) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Abort", JAVA_LONG, JAVA_INT);
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, code);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Error_string(int code, long string, long length) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Error_string", JAVA_INT, JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(code, string, length);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Get_library_version(long version, long length) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Get_library_version", JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(version, length);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Comm_dup(long comm, long copy) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Comm_dup", JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, copy);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Comm_free(long comm) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Comm_free", JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Comm_rank(long comm, long rank) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Comm_rank", JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, rank);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Comm_size(long comm, long size) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Comm_size", JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, size);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Comm_set_errhandler(long comm, long handler) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Comm_set_errhandler", JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, handler);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Iallreduce(long source, long target, int count, long type, long op, long comm, long request) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function(
                    "MPI_Iallreduce", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, target, count, type, op, comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Ireduce_scatter(
            long source, long target, long counts, long type, long op, long comm, long request) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function(
                    "MPI_Ireduce_scatter", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, target, counts, type, op, comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Iallgather(
            long source,
            int sourceCount,
            long sourceType,
            long target,
            int targetCount,
            long targetType,
            long comm,
            long request) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function(
                    "MPI_Iallgather",
                    JAVA_LONG,
                    JAVA_INT,
                    JAVA_LONG,
                    JAVA_LONG,
                    JAVA_INT,
                    JAVA_LONG,
                    JAVA_LONG,
                    JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    source, sourceCount, sourceType, target, targetCount, targetType, comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Iallgatherv(
            long source,
            int sourceCount,
            long sourceType,
            long target,
            long counts,
            long displacements,
            long targetType,
            long comm,
            long request) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function(
                    "MPI_Iallgatherv",
                    JAVA_LONG,
                    JAVA_INT,
                    JAVA_LONG,
                    JAVA_LONG,
                    JAVA_LONG,
                    JAVA_LONG,
                    JAVA_LONG,
                    JAVA_LONG,
                    JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(
                    source, sourceCount, sourceType, target, counts, displacements, targetType, comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Ibcast(long buffer, int count, long type, int root, long comm, long request) {
        class Function {
            static final MethodHandle HANDLE =
                    MpiLibrary.function("MPI_Ibcast", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(buffer, count, type, root, comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Ibarrier(long comm, long request) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Ibarrier", JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Isend(long buffer, int count, long type, int to, int tag, long comm, long request) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function(
                    "MPI_Isend", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(buffer, count, type, to, tag, comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Irecv(long buffer, int count, long type, int from, int tag, long comm, long request) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function(
                    "MPI_Irecv", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(buffer, count, type, from, tag, comm, request);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int MPI_Test(long request, long flag, long status) {
        class Function {
            static final MethodHandle HANDLE = MpiLibrary.function("MPI_Test", JAVA_LONG, JAVA_LONG, JAVA_LONG);
        }
        try {
            return (int) Function.HANDLE.invokeExact(request, flag, status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
