package dev.tenon.mpi;

import dev.tenon.core.collective.Buffer;
import dev.tenon.core.collective.Chunks;
import dev.tenon.core.collective.HostBuffer;
import dev.tenon.core.collective.ReduceOp;
import dev.tenon.core.collective.reduce.Kernel;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.mpi.Agreement.Call;
import dev.tenon.mpi.Agreement.Operation;

/** Makes calls of what users give, or says what is wrong with it. */
final class Checks {
    private Checks() {}

    static Call allReduce(Buffer source, Buffer target, ReduceOp op) {
        HostBuffer from = host("allReduce", source);
        same("allReduce", target("allReduce", target), from.length(), from);
        Kernel.of(from.dtype(), op);
        return new Call(Operation.ALL_REDUCE, from.dtype(), from.length(), op, -1);
    }

    static Call reduceScatter(Buffer source, Buffer target, ReduceOp op, int rank, int world) {
        HostBuffer from = host("reduceScatter", source);
        same("reduceScatter", target("reduceScatter", target), new Chunks(from.length(), world).size(rank), from);
        Kernel.of(from.dtype(), op);
        countable("reduceScatter", from);
        return new Call(Operation.REDUCE_SCATTER, from.dtype(), from.length(), op, -1);
    }

    static Call allGather(Buffer source, Buffer target, int rank, int world) {
        HostBuffer from = host("allGather", source);
        HostBuffer to = target("allGather", target);
        long size = new Chunks(to.length(), world).size(rank);
        if (from.length() != size || from.dtype() != to.dtype()) {
            throw new InputException("allGather: rank " + rank + "'s source is " + from + "; its chunk of the target, "
                    + to + " over " + world + " ranks, is " + size + " " + to.dtype());
        }
        countable("allGather", to);
        return new Call(Operation.ALL_GATHER, to.dtype(), to.length(), null, -1);
    }

    static Call broadcast(Buffer data, int root, int rank, int world) {
        HostBuffer buffer = rank == root ? host("broadcast", data) : target("broadcast", data);
        rank("broadcast", "root", root, world);
        return new Call(Operation.BROADCAST, buffer.dtype(), buffer.length(), null, root);
    }

    static void rank(String operation, String what, int rank, int world) {
        if (rank < 0 || rank >= world) {
            throw new InputException(operation + ": " + what + " is rank " + rank + "; ranks are 0 to " + (world - 1));
        }
    }

    static HostBuffer host(String operation, Buffer buffer) {
        if (!(buffer instanceof HostBuffer host)) {
            throw new UnsupportedException(operation + ": MPI is given host memory, not "
                    + buffer.getClass().getSimpleName() + "; copy it to the host first");
        }
        if (!host.memory().scope().isAlive()) {
            throw new InputException(operation + ": the memory's arena is closed");
        }
        if (!host.memory().isAccessibleBy(Thread.currentThread())) {
            throw new InputException(operation + ": the memory is confined to another thread");
        }
        return host;
    }

    static HostBuffer target(String operation, Buffer buffer) {
        HostBuffer target = host(operation, buffer);
        if (target.memory().isReadOnly()) {
            throw new InputException(operation + ": the target is read-only memory");
        }
        return target;
    }

    private static void same(String operation, HostBuffer target, long length, HostBuffer source) {
        if (target.length() != length || target.dtype() != source.dtype()) {
            throw new InputException(
                    operation + ": the target is " + target + ", the result is " + length + " " + source.dtype());
        }
    }

    private static void countable(String operation, HostBuffer whole) {
        if (whole.length() > Integer.MAX_VALUE - 16) {
            throw new UnsupportedException(operation + " over MPI takes at most " + (Integer.MAX_VALUE - 16)
                    + " elements, got " + whole + "; call it on parts");
        }
    }
}
