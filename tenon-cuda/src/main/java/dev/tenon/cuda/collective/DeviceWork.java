package dev.tenon.cuda.collective;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.ReduceOp;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.nativelib.nccl.Nccl;
import dev.tenon.nativelib.nccl.NcclConstants;

/**
 * A collective on device memory as calls of NCCL's. Elements that are only moved travel as bytes.
 *
 * @param grouped whether there are several calls, to be handed over together
 */
record DeviceWork(String what, GpuStream stream, boolean grouped, Calls calls) {
    /** Makes the calls, each through {@link NcclHandle#run}. */
    interface Calls {
        void make(NcclHandle nccl, long stream);
    }

    /** With the device's order held. */
    void enqueue(NcclHandle nccl) {
        if (!grouped) {
            calls.make(nccl, stream.handle());
            return;
        }
        nccl.check("ncclGroupStart", Nccl.ncclGroupStart());
        try {
            calls.make(nccl, stream.handle());
        } finally {
            nccl.check("ncclGroupEnd", Nccl.ncclGroupEnd());
        }
    }

    static DeviceWork allReduce(GpuStream stream, DeviceSlice source, DeviceSlice target, ReduceOp op) {
        int type = NcclTypes.type(source.dtype());
        int by = NcclTypes.op(source.dtype(), op);
        return new DeviceWork(
                "allReduce",
                stream,
                false,
                (nccl, on) -> nccl.run(
                        "ncclAllReduce",
                        comm -> Nccl.ncclAllReduce(
                                source.address(), target.address(), source.length(), type, by, comm, on)));
    }

    /** Chunks of one size in one call, others each as a reduction to its rank. */
    static DeviceWork reduceScatter(GpuStream stream, DeviceSlice source, DeviceSlice target, ReduceOp op, int world) {
        int type = NcclTypes.type(source.dtype());
        int by = NcclTypes.op(source.dtype(), op);
        Chunks chunks = new Chunks(source.length(), world);
        if (source.length() % world == 0) {
            return new DeviceWork(
                    "reduceScatter",
                    stream,
                    false,
                    (nccl, on) -> nccl.run(
                            "ncclReduceScatter",
                            comm -> Nccl.ncclReduceScatter(
                                    source.address(), target.address(), target.length(), type, by, comm, on)));
        }
        return new DeviceWork("reduceScatter", stream, true, (nccl, on) -> {
            for (int root = 0; root < world; root++) {
                DeviceSlice part = source.slice(chunks.start(root), chunks.size(root));
                int to = root;
                if (part.length() > 0) {
                    nccl.run(
                            "ncclReduce",
                            comm -> Nccl.ncclReduce(
                                    part.address(),
                                    nccl.rank == to ? target.address() : part.address(),
                                    part.length(),
                                    type,
                                    by,
                                    to,
                                    comm,
                                    on));
                }
            }
        });
    }

    /** Chunks of one size in one call, others each as a broadcast of its rank. */
    static DeviceWork allGather(GpuStream stream, DeviceSlice source, DeviceSlice target, int world) {
        Chunks chunks = new Chunks(target.length(), world);
        if (target.length() % world == 0) {
            return new DeviceWork(
                    "allGather",
                    stream,
                    false,
                    (nccl, on) -> nccl.run(
                            "ncclAllGather",
                            comm -> Nccl.ncclAllGather(
                                    source.address(),
                                    target.address(),
                                    source.bytes(),
                                    NcclConstants.UINT8,
                                    comm,
                                    on)));
        }
        return new DeviceWork("allGather", stream, true, (nccl, on) -> {
            for (int root = 0; root < world; root++) {
                DeviceSlice part = target.slice(chunks.start(root), chunks.size(root));
                int from = root;
                if (part.length() > 0) {
                    long own = nccl.rank == from ? source.address() : part.address();
                    nccl.run(
                            "ncclBroadcast",
                            comm -> Nccl.ncclBroadcast(
                                    own, part.address(), part.bytes(), NcclConstants.UINT8, from, comm, on));
                }
            }
        });
    }

    static DeviceWork broadcast(GpuStream stream, DeviceSlice data, int root) {
        return new DeviceWork(
                "broadcast",
                stream,
                false,
                (nccl, on) -> nccl.run(
                        "ncclBroadcast",
                        comm -> Nccl.ncclBroadcast(
                                data.address(), data.address(), data.bytes(), NcclConstants.UINT8, root, comm, on)));
    }

    /** Either half may be empty. */
    static DeviceWork sendRecv(GpuStream stream, DeviceSlice send, int to, DeviceSlice receive, int from) {
        return new DeviceWork("sendRecv", stream, true, (nccl, on) -> {
            send(nccl, send, to, on);
            receive(nccl, receive, from, on);
        });
    }

    static void send(NcclHandle nccl, DeviceSlice data, int to, long stream) {
        if (data.length() > 0) {
            nccl.run(
                    "ncclSend",
                    comm -> Nccl.ncclSend(data.address(), data.bytes(), NcclConstants.UINT8, to, comm, stream));
        }
    }

    static void receive(NcclHandle nccl, DeviceSlice data, int from, long stream) {
        if (data.length() > 0) {
            nccl.run(
                    "ncclRecv",
                    comm -> Nccl.ncclRecv(data.address(), data.bytes(), NcclConstants.UINT8, from, comm, stream));
        }
    }
}
