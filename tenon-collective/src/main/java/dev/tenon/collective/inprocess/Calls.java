package dev.tenon.collective.inprocess;

import dev.tenon.collective.ArgumentChecks;
import dev.tenon.collective.Buffer;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.Operation;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.reduce.Arithmetic;
import dev.tenon.core.error.InputException;

/** Makes calls of what users give, or says what is wrong with it. */
final class Calls {
    /** Owns no arena, so what it may read every thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private Calls() {}

    static Call allReduce(Buffer source, Buffer target, ReduceOp op) {
        ArgumentChecks.requireBuffers("allReduce", source, target);
        ArgumentChecks.requireGiven("allReduce", "op", op);
        HostBuffer from = readable("allReduce", source);
        HostBuffer to = readable("allReduce", target);
        Arithmetic.of(from.dtype(), op);
        ArgumentChecks.requireFits("allReduce", to, from.length(), from.dtype());
        ArgumentChecks.requireWritable("allReduce", to);
        if (!from.same(to)) {
            apart("allReduce", from, to);
        }
        return new Call(Operation.ALL_REDUCE, from, to, from.dtype(), from.length(), op, -1);
    }

    static Call reduceScatter(Buffer source, Buffer target, ReduceOp op, int rank, int world) {
        ArgumentChecks.requireBuffers("reduceScatter", source, target);
        ArgumentChecks.requireGiven("reduceScatter", "op", op);
        HostBuffer from = readable("reduceScatter", source);
        HostBuffer to = readable("reduceScatter", target);
        Arithmetic.of(from.dtype(), op);
        Chunks chunks = new Chunks(from.length(), world);
        ArgumentChecks.requireFits("reduceScatter", to, chunks.size(rank), from.dtype());
        ArgumentChecks.requireWritable("reduceScatter", to);
        if (!from.slice(chunks.start(rank), chunks.size(rank)).same(to)) {
            apart("reduceScatter", from, to);
        }
        return new Call(Operation.REDUCE_SCATTER, from, to, from.dtype(), from.length(), op, -1);
    }

    static Call allGather(Buffer source, Buffer target, int rank, int world) {
        ArgumentChecks.requireBuffers("allGather", source, target);
        HostBuffer from = readable("allGather", source);
        HostBuffer to = readable("allGather", target);
        ArgumentChecks.requireWritable("allGather", to);
        Chunks chunks = new Chunks(to.length(), world);
        ArgumentChecks.requireChunk("allGather", from, to, rank, world);
        if (!to.slice(chunks.start(rank), chunks.size(rank)).same(from)) {
            apart("allGather", from, to);
        }
        return new Call(Operation.ALL_GATHER, from, to, to.dtype(), to.length(), null, -1);
    }

    static Call broadcast(Buffer data, int root, int rank, int world) {
        ArgumentChecks.requireGiven("broadcast", "data", data);
        HostBuffer buffer = readable("broadcast", data);
        ArgumentChecks.requireRank("broadcast", "root", root, world);
        if (rank != root) {
            ArgumentChecks.requireWritable("broadcast", buffer);
        }
        return new Call(Operation.BROADCAST, buffer, buffer, buffer.dtype(), buffer.length(), null, root);
    }

    static HostBuffer readable(String operation, Buffer buffer) {
        HostBuffer host = ArgumentChecks.requireHost(operation, buffer, "ranks that are threads");
        if (!host.memory().isAccessibleBy(ANY_THREAD)) {
            throw new InputException(
                    operation
                            + ": the memory is confined to one thread, but ranks read each other's; allocate it in Arena.ofShared() or Arena.ofAuto()");
        }
        ArgumentChecks.requireAlive(operation, host);
        return host;
    }

    static void apart(String operation, HostBuffer source, HostBuffer target) {
        if (source.overlaps(target)) {
            throw new InputException(operation
                    + ": source and target overlap, but are not the same place; use one buffer, or two apart");
        }
    }
}
