package dev.tenon.core.collective.inprocess;

import dev.tenon.core.collective.Buffer;
import dev.tenon.core.collective.Chunks;
import dev.tenon.core.collective.HostBuffer;
import dev.tenon.core.collective.ReduceOp;
import dev.tenon.core.collective.reduce.Kernel;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;

/** Makes calls of what users give, or says what is wrong with it. */
final class Calls {
    /** Owns no arena, so what it may read every thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private Calls() {}

    static Call allReduce(Buffer source, Buffer target, ReduceOp op) {
        HostBuffer from = readable("allReduce", source);
        HostBuffer to = readable("allReduce", target);
        Kernel.of(from.dtype(), op);
        fits("allReduce", from.length(), from.dtype(), to);
        writable("allReduce", to);
        if (!from.same(to)) {
            apart("allReduce", from, to);
        }
        return new Call(Operation.ALL_REDUCE, from, to, from.dtype(), from.length(), op, -1);
    }

    static Call reduceScatter(Buffer source, Buffer target, ReduceOp op, int rank, int world) {
        HostBuffer from = readable("reduceScatter", source);
        HostBuffer to = readable("reduceScatter", target);
        Kernel.of(from.dtype(), op);
        Chunks chunks = new Chunks(from.length(), world);
        fits("reduceScatter", chunks.size(rank), from.dtype(), to);
        writable("reduceScatter", to);
        if (!from.slice(chunks.start(rank), chunks.size(rank)).same(to)) {
            apart("reduceScatter", from, to);
        }
        return new Call(Operation.REDUCE_SCATTER, from, to, from.dtype(), from.length(), op, -1);
    }

    static Call allGather(Buffer source, Buffer target, int rank, int world) {
        HostBuffer from = readable("allGather", source);
        HostBuffer to = readable("allGather", target);
        writable("allGather", to);
        Chunks chunks = new Chunks(to.length(), world);
        if (from.length() != chunks.size(rank) || from.dtype() != to.dtype()) {
            throw new InputException("allGather: rank " + rank + "'s source is " + from + "; its chunk of the target, "
                    + to + " over " + world + " ranks, is " + chunks.size(rank) + " " + to.dtype());
        }
        if (!to.slice(chunks.start(rank), chunks.size(rank)).same(from)) {
            apart("allGather", from, to);
        }
        return new Call(Operation.ALL_GATHER, from, to, to.dtype(), to.length(), null, -1);
    }

    static Call broadcast(Buffer data, int root, int rank, int world) {
        HostBuffer buffer = readable("broadcast", data);
        rank("broadcast", "root", root, world);
        if (rank != root) {
            writable("broadcast", buffer);
        }
        return new Call(Operation.BROADCAST, buffer, buffer, buffer.dtype(), buffer.length(), null, root);
    }

    static void rank(String operation, String what, int rank, int world) {
        if (rank < 0 || rank >= world) {
            throw new InputException(operation + ": " + what + " is rank " + rank + "; ranks are 0 to " + (world - 1));
        }
    }

    static HostBuffer readable(String operation, Buffer buffer) {
        if (!(buffer instanceof HostBuffer host)) {
            throw new UnsupportedException(operation + ": ranks of one process work on host memory, not on "
                    + buffer.getClass().getSimpleName() + "; use the communicator of that device");
        }
        if (!host.memory().isAccessibleBy(ANY_THREAD)) {
            throw new InputException(
                    operation
                            + ": the memory is confined to one thread, but ranks read each other's; allocate it in Arena.ofShared() or Arena.ofAuto()");
        }
        if (!host.memory().scope().isAlive()) {
            throw new InputException(operation + ": the memory's arena is closed");
        }
        return host;
    }

    static void writable(String operation, HostBuffer target) {
        if (target.memory().isReadOnly()) {
            throw new InputException(operation + ": the target is read-only memory");
        }
    }

    static void apart(String operation, HostBuffer source, HostBuffer target) {
        if (source.overlaps(target)) {
            throw new InputException(operation
                    + ": source and target overlap, but are not the same place; use one buffer, or two apart");
        }
    }

    private static void fits(String operation, long length, DType dtype, HostBuffer target) throws TenonException {
        if (target.length() != length || target.dtype() != dtype) {
            throw new InputException(
                    operation + ": the target is " + target + ", the result is " + length + " " + dtype);
        }
    }
}
