package dev.tenon.collective.inprocess;

import dev.tenon.collective.Arguments;
import dev.tenon.collective.Buffer;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.Operation;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.reduce.Kernel;
import dev.tenon.core.error.InputException;

/** Makes calls of what users give, or says what is wrong with it. */
final class Calls {
    /** Owns no arena, so what it may read every thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private Calls() {}

    static Call allReduce(Buffer source, Buffer target, ReduceOp op) {
        Arguments.requireBuffers("allReduce", source, target);
        Arguments.requireGiven("allReduce", "op", op);
        HostBuffer from = readable("allReduce", source);
        HostBuffer to = readable("allReduce", target);
        Kernel.of(from.dtype(), op);
        Arguments.requireFits("allReduce", to, from.length(), from.dtype());
        Arguments.requireWritable("allReduce", to);
        if (!from.same(to)) {
            apart("allReduce", from, to);
        }
        return new Call(Operation.ALL_REDUCE, from, to, from.dtype(), from.length(), op, -1);
    }

    static Call reduceScatter(Buffer source, Buffer target, ReduceOp op, int rank, int world) {
        Arguments.requireBuffers("reduceScatter", source, target);
        Arguments.requireGiven("reduceScatter", "op", op);
        HostBuffer from = readable("reduceScatter", source);
        HostBuffer to = readable("reduceScatter", target);
        Kernel.of(from.dtype(), op);
        Chunks chunks = new Chunks(from.length(), world);
        Arguments.requireFits("reduceScatter", to, chunks.size(rank), from.dtype());
        Arguments.requireWritable("reduceScatter", to);
        if (!from.slice(chunks.start(rank), chunks.size(rank)).same(to)) {
            apart("reduceScatter", from, to);
        }
        return new Call(Operation.REDUCE_SCATTER, from, to, from.dtype(), from.length(), op, -1);
    }

    static Call allGather(Buffer source, Buffer target, int rank, int world) {
        Arguments.requireBuffers("allGather", source, target);
        HostBuffer from = readable("allGather", source);
        HostBuffer to = readable("allGather", target);
        Arguments.requireWritable("allGather", to);
        Chunks chunks = new Chunks(to.length(), world);
        Arguments.requireChunk("allGather", from, to, rank, world);
        if (!to.slice(chunks.start(rank), chunks.size(rank)).same(from)) {
            apart("allGather", from, to);
        }
        return new Call(Operation.ALL_GATHER, from, to, to.dtype(), to.length(), null, -1);
    }

    static Call broadcast(Buffer data, int root, int rank, int world) {
        Arguments.requireGiven("broadcast", "data", data);
        HostBuffer buffer = readable("broadcast", data);
        Arguments.requireRank("broadcast", "root", root, world);
        if (rank != root) {
            Arguments.requireWritable("broadcast", buffer);
        }
        return new Call(Operation.BROADCAST, buffer, buffer, buffer.dtype(), buffer.length(), null, root);
    }

    static HostBuffer readable(String operation, Buffer buffer) {
        HostBuffer host = Arguments.requireHost(operation, buffer, "ranks that are threads");
        if (!host.memory().isAccessibleBy(ANY_THREAD)) {
            throw new InputException(
                    operation
                            + ": the memory is confined to one thread, but ranks read each other's; allocate it in Arena.ofShared() or Arena.ofAuto()");
        }
        Arguments.requireAlive(operation, host);
        return host;
    }

    static void apart(String operation, HostBuffer source, HostBuffer target) {
        if (source.overlaps(target)) {
            throw new InputException(operation
                    + ": source and target overlap, but are not the same place; use one buffer, or two apart");
        }
    }
}
