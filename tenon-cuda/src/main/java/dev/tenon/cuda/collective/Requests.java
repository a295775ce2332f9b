package dev.tenon.cuda.collective;

import dev.tenon.collective.ArgumentChecks;
import dev.tenon.collective.Buffer;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.Operation;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.Request;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;

/** Makes requests of what users give, of host or of device memory, or says what is wrong with it. */
final class Requests {
    private Requests() {}

    static Request allReduce(Buffer source, Buffer target, ReduceOp op) {
        ArgumentChecks.requireBuffers("allReduce", source, target);
        ArgumentChecks.requireGiven("allReduce", "op", op);
        alike("allReduce", source, target);
        NcclTypes.type(source.dtype());
        NcclTypes.op(source.dtype(), op);
        ArgumentChecks.requireFits("allReduce", target, source.length(), source.dtype());
        apart("allReduce", source, target, source, target);
        return new Request(Operation.ALL_REDUCE, source.dtype(), source.length(), op, -1);
    }

    static Request reduceScatter(Buffer source, Buffer target, ReduceOp op, int rank, int world) {
        ArgumentChecks.requireBuffers("reduceScatter", source, target);
        ArgumentChecks.requireGiven("reduceScatter", "op", op);
        alike("reduceScatter", source, target);
        NcclTypes.type(source.dtype());
        NcclTypes.op(source.dtype(), op);
        Chunks chunks = new Chunks(source.length(), world);
        ArgumentChecks.requireFits("reduceScatter", target, chunks.size(rank), source.dtype());
        apart("reduceScatter", source, target, slice(source, chunks, rank), target);
        return new Request(Operation.REDUCE_SCATTER, source.dtype(), source.length(), op, -1);
    }

    static Request allGather(Buffer source, Buffer target, int rank, int world) {
        ArgumentChecks.requireBuffers("allGather", source, target);
        alike("allGather", source, target);
        ArgumentChecks.requireChunk("allGather", source, target, rank, world);
        apart("allGather", source, target, source, slice(target, new Chunks(target.length(), world), rank));
        return new Request(Operation.ALL_GATHER, target.dtype(), target.length(), null, -1);
    }

    static Request broadcast(Buffer data, int root, int rank, int world) {
        ArgumentChecks.requireGiven("broadcast", "data", data);
        ArgumentChecks.requireRank("broadcast", "root", root, world);
        usable("broadcast", data, rank != root);
        return new Request(Operation.BROADCAST, data.dtype(), data.length(), null, root);
    }

    static void sendRecv(Buffer send, int to, Buffer receive, int from, int world) {
        ArgumentChecks.requireRank("sendRecv", "the receiver", to, world);
        ArgumentChecks.requireRank("sendRecv", "the sender", from, world);
        ArgumentChecks.requireGiven("sendRecv", "send", send);
        ArgumentChecks.requireGiven("sendRecv", "receive", receive);
        alike("sendRecv", send, receive);
        if (overlap(send, receive)) {
            throw overlapping("sendRecv");
        }
    }

    private static void alike(String operation, Buffer source, Buffer target) {
        usable(operation, source, false);
        usable(operation, target, true);
        if (source instanceof HostBuffer != target instanceof HostBuffer) {
            throw new UnsupportedException(operation
                    + ": one buffer is host memory, the other the device's; give two of a kind, or copy one over");
        }
    }

    private static void usable(String operation, Buffer buffer, boolean written) {
        switch (buffer) {
            case HostBuffer host -> {
                ArgumentChecks.requireAlive(operation, host);
                if (!host.memory().isAccessibleBy(Thread.currentThread())) {
                    throw new InputException(operation + ": the memory is confined to another thread");
                }
                if (written) {
                    ArgumentChecks.requireWritable(operation, host);
                }
            }
            case DeviceSlice slice -> slice.address(); // says so when it is closed
            default ->
                throw new UnsupportedException(
                        operation + ": ranks on GPUs take host memory, tensors and DeviceSlices, not "
                                + buffer.getClass().getSimpleName());
        }
    }

    private static Buffer slice(Buffer whole, Chunks chunks, int rank) {
        return whole instanceof DeviceSlice slice
                ? slice.slice(chunks.start(rank), chunks.size(rank))
                : ((HostBuffer) whole).slice(chunks.start(rank), chunks.size(rank));
    }

    /** Source and target do not overlap, unless the places where they may be the same are. */
    private static void apart(String operation, Buffer source, Buffer target, Buffer place, Buffer other) {
        if (overlap(source, target) && !same(place, other)) {
            throw overlapping(operation);
        }
    }

    private static InputException overlapping(String operation) {
        return new InputException(
                operation + ": source and target overlap, but are not the same place; use one buffer, or two apart");
    }

    private static boolean overlap(Buffer one, Buffer other) {
        return one instanceof DeviceSlice slice
                ? slice.overlaps((DeviceSlice) other)
                : ((HostBuffer) one).overlaps((HostBuffer) other);
    }

    private static boolean same(Buffer one, Buffer other) {
        return one instanceof DeviceSlice slice
                ? slice.same((DeviceSlice) other)
                : ((HostBuffer) one).same((HostBuffer) other);
    }
}
