package dev.tenon.nativelib.nccl;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;
import static dev.tenon.nativelib.nccl.NcclConstants.UNIQUE_ID;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * NCCL's functions. C names, C order of parameters, statuses as they come; the work of a collective is enqueued on the
 * stream. A unique id goes by value.
 */
public final class Nccl {
    private Nccl() {}

    public static int ncclGetVersion(long version) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclGetVersion", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(version);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclGetUniqueId(long id) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclGetUniqueId", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(id);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclCommInitRank(long comm, int ranks, MemorySegment id, int rank) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclCommInitRank", status(LONG, INT, UNIQUE_ID, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, ranks, id, rank);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclCommInitRankConfig(long comm, int ranks, MemorySegment id, int rank, long config) {
        class Function {
            static final MethodHandle HANDLE =
                    NcclLibrary.bind("ncclCommInitRankConfig", status(LONG, INT, UNIQUE_ID, INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, ranks, id, rank, config);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclCommInitAll(long comms, int devices, long ordinals) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclCommInitAll", status(LONG, INT, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(comms, devices, ordinals);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclCommFinalize(long comm) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclCommFinalize", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclCommDestroy(long comm) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclCommDestroy", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclCommAbort(long comm) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclCommAbort", status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclCommGetAsyncError(long comm, long status) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclCommGetAsyncError", status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(comm, status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclGroupStart() {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclGroupStart", status());
        }
        try {
            return (int) Function.HANDLE.invokeExact();
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclGroupEnd() {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclGroupEnd", status());
        }
        try {
            return (int) Function.HANDLE.invokeExact();
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclAllReduce(long source, long target, long count, int type, int op, long comm, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    NcclLibrary.bind("ncclAllReduce", status(LONG, LONG, LONG, INT, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, target, count, type, op, comm, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclReduce(
            long source, long target, long count, int type, int op, int root, long comm, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    NcclLibrary.bind("ncclReduce", status(LONG, LONG, LONG, INT, INT, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, target, count, type, op, root, comm, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclReduceScatter(
            long source, long target, long countEach, int type, int op, long comm, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    NcclLibrary.bind("ncclReduceScatter", status(LONG, LONG, LONG, INT, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, target, countEach, type, op, comm, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclAllGather(long source, long target, long countEach, int type, long comm, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    NcclLibrary.bind("ncclAllGather", status(LONG, LONG, LONG, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, target, countEach, type, comm, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclBroadcast(long source, long target, long count, int type, int root, long comm, long stream) {
        class Function {
            static final MethodHandle HANDLE =
                    NcclLibrary.bind("ncclBroadcast", status(LONG, LONG, LONG, INT, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, target, count, type, root, comm, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclSend(long source, long count, int type, int peer, long comm, long stream) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclSend", status(LONG, LONG, INT, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(source, count, type, peer, comm, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int ncclRecv(long target, long count, int type, int peer, long comm, long stream) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclRecv", status(LONG, LONG, INT, INT, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(target, count, type, peer, comm, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** The address of a text that is the library's. */
    public static long ncclGetErrorString(int status) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclGetErrorString", FunctionDescriptor.of(LONG, INT));
        }
        try {
            return (long) Function.HANDLE.invokeExact(status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /** The address of a text that is the library's. */
    public static long ncclGetLastError(long comm) {
        class Function {
            static final MethodHandle HANDLE = NcclLibrary.bind("ncclGetLastError", FunctionDescriptor.of(LONG, LONG));
        }
        try {
            return (long) Function.HANDLE.invokeExact(comm);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
