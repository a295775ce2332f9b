package dev.tenon.mpi;

import dev.tenon.collective.ArgumentChecks;
import dev.tenon.collective.Buffer;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.Operation;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.Request;
import dev.tenon.collective.reduce.Arithmetic;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;

/** Makes calls of what users give, or says what is wrong with it. */
final class Checks {
    private Checks() {}

    static Request allReduce(Buffer source, Buffer target, ReduceOp op) {
        ArgumentChecks.requireBuffers("allReduce", source, target);
        ArgumentChecks.requireGiven("allReduce", "op", op);
        HostBuffer from = host("allReduce", source);
        ArgumentChecks.requireFits("allReduce", target("allReduce", target), from.length(), from.dtype());
        Arithmetic.of(from.dtype(), op);
        return new Request(Operation.ALL_REDUCE, from.dtype(), from.length(), op, -1);
    }

    static Request reduceScatter(Buffer source, Buffer target, ReduceOp op, int rank, int world) {
        ArgumentChecks.requireBuffers("reduceScatter", source, target);
        ArgumentChecks.requireGiven("reduceScatter", "op", op);
        HostBuffer from = host("reduceScatter", source);
        HostBuffer to = target("reduceScatter", target);
        ArgumentChecks.requireFits("reduceScatter", to, new Chunks(from.length(), world).size(rank), from.dtype());
        Arithmetic.of(from.dtype(), op);
        countable("reduceScatter", from);
        return new Request(Operation.REDUCE_SCATTER, from.dtype(), from.length(), op, -1);
    }

    static Request allGather(Buffer source, Buffer target, int rank, int world) {
        ArgumentChecks.requireBuffers("allGather", source, target);
        HostBuffer from = host("allGather", source);
        HostBuffer to = target("allGather", target);
        ArgumentChecks.requireChunk("allGather", from, to, rank, world);
        countable("allGather", to);
        return new Request(Operation.ALL_GATHER, to.dtype(), to.length(), null, -1);
    }

    static Request broadcast(Buffer data, int root, int rank, int world) {
        ArgumentChecks.requireGiven("broadcast", "data", data);
        HostBuffer buffer = rank == root ? host("broadcast", data) : target("broadcast", data);
        ArgumentChecks.requireRank("broadcast", "root", root, world);
        return new Request(Operation.BROADCAST, buffer.dtype(), buffer.length(), null, root);
    }

    static HostBuffer host(String operation, Buffer buffer) {
        HostBuffer host = ArgumentChecks.requireHost(operation, buffer, "ranks over MPI");
        ArgumentChecks.requireAlive(operation, host);
        if (!host.memory().isAccessibleBy(Thread.currentThread())) {
            throw new InputException(operation + ": the memory is confined to another thread");
        }
        return host;
    }

    static HostBuffer target(String operation, Buffer buffer) {
        HostBuffer target = host(operation, buffer);
        ArgumentChecks.requireWritable(operation, target);
        return target;
    }

    /** What MPI counts in one call of the operations that cannot be cut into blocks. */
    static void countable(String operation, HostBuffer whole) {
        if (whole.length() > Integer.MAX_VALUE - 16) {
            throw new UnsupportedException(operation + " over MPI takes at most " + (Integer.MAX_VALUE - 16)
                    + " elements, got " + whole + "; call it on parts");
        }
    }
}
