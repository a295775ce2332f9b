package dev.tenon.cuda.collective;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.Request;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;

/**
 * Collectives on host memory: all ranks tell each other what they ask for, then elements go to the device, around, and
 * back. Each call waits. One thread at a time.
 */
final class HostCalls implements AutoCloseable {
    private static final int DESCRIPTION = 2;

    private final RankState rank;
    private final GpuStream stream;
    private final int world;
    private final DeviceStaging first;
    private final DeviceStaging second;
    private final PinnedBuffer own;
    private final PinnedBuffer all;

    HostCalls(RankState rank) {
        this.rank = rank;
        stream = rank.stream;
        world = rank.nccl.world;
        first = new DeviceStaging(rank.nccl.context);
        second = new DeviceStaging(rank.nccl.context);
        own = rank.nccl.context.allocatePinned((long) Request.NUMBERS * Long.BYTES);
        all = rank.nccl.context.allocatePinned((long) Request.NUMBERS * Long.BYTES * world);
    }

    /**
     * Makes this rank's request and compares it with the others'.
     *
     * @throws CollectiveMismatchException on every rank when they differ, or when one rank's call is wrong in itself:
     *     there its own exception
     */
    void agree(Supplier<Request> maker, long deadline) {
        if (NcclBatch.current() != null) {
            throw new InputException(
                    "within together() ranks work on device memory; collectives of host memory, and barriers, wait for all ranks");
        }
        rank.check();
        Request request;
        try {
            request = maker.get();
        } catch (RuntimeException | Error e) {
            exchange(Request.REFUSED, deadline);
            throw e;
        }
        exchange(request, deadline);
        long[] numbers = new long[Request.NUMBERS];
        for (int other = 0; other < world; other++) {
            MemorySegment.copy(
                    all.segment(),
                    ValueLayout.JAVA_LONG,
                    (long) other * Request.NUMBERS * Long.BYTES,
                    numbers,
                    0,
                    numbers.length);
            request.requireSame(rank.nccl.rank, other, Request.of(numbers));
        }
    }

    private void exchange(Request request, long deadline) {
        long[] numbers = request.numbers();
        MemorySegment.copy(numbers, 0, own.segment(), ValueLayout.JAVA_LONG, 0, numbers.length);
        DeviceSlice theirs = first.of((long) numbers.length * world, DType.I64);
        DeviceSlice mine = theirs.slice((long) numbers.length * rank.nccl.rank, numbers.length);
        stream.copyToDevice(own.segment(), mine.memory(), mine.offset());
        rank.enqueue(DeviceWork.allGather(stream, mine, theirs, world));
        stream.copyToHost(theirs.memory(), 0, all.segment());
        rank.await(stream, request.name(), deadline);
    }

    void allReduce(HostBuffer source, HostBuffer target, ReduceOp op, long deadline) {
        DeviceSlice staged = upload(first, source);
        run(DeviceWork.allReduce(stream, staged, staged, op), deadline);
        download(staged, target);
    }

    void reduceScatter(HostBuffer source, HostBuffer target, ReduceOp op, long deadline) {
        Chunks chunks = new Chunks(source.length(), world);
        DeviceSlice staged = upload(first, source);
        DeviceSlice mine = staged.slice(chunks.start(rank.nccl.rank), chunks.size(rank.nccl.rank));
        // a place of its own: reductions to single ranks write it while others still read the source
        DeviceSlice result = second.of(mine.length(), mine.dtype());
        run(DeviceWork.reduceScatter(stream, staged, result, op, world), deadline);
        download(result, target);
    }

    void allGather(HostBuffer source, HostBuffer target, long deadline) {
        Chunks chunks = new Chunks(target.length(), world);
        DeviceSlice staged = first.of(target.length(), target.dtype());
        DeviceSlice mine = staged.slice(chunks.start(rank.nccl.rank), chunks.size(rank.nccl.rank));
        stream.copyToDevice(source.memory(), mine.memory(), mine.offset());
        run(DeviceWork.allGather(stream, mine, staged, world), deadline);
        download(staged, target);
    }

    void broadcast(HostBuffer data, int root, long deadline) {
        DeviceSlice staged = rank.nccl.rank == root ? upload(first, data) : first.of(data.length(), data.dtype());
        run(DeviceWork.broadcast(stream, staged, root), deadline);
        if (rank.nccl.rank != root) {
            download(staged, data);
        }
    }

    /**
     * Before, both sides of each message tell the other what they send and what they expect; the halves that fit go
     * through, for the other side of each waits for it.
     */
    void sendRecv(HostBuffer send, int to, HostBuffer receive, int from, long deadline) {
        DeviceSlice words = first.of(4 * DESCRIPTION, DType.I64);
        MemorySegment described = own.segment().asSlice(0, 2L * DESCRIPTION * Long.BYTES);
        describe(described, 0, send);
        describe(described, DESCRIPTION, receive);
        stream.copyToDevice(described, words.memory(), 0);
        run(
                new DeviceWork("sendRecv", stream, true, (nccl, on) -> {
                    DeviceWork.send(nccl, words.slice(0, DESCRIPTION), to, on);
                    DeviceWork.send(nccl, words.slice(DESCRIPTION, DESCRIPTION), from, on);
                    DeviceWork.receive(nccl, words.slice(2 * DESCRIPTION, DESCRIPTION), from, on);
                    DeviceWork.receive(nccl, words.slice(3 * DESCRIPTION, DESCRIPTION), to, on);
                }),
                deadline);
        long[] numbers = new long[4 * DESCRIPTION];
        stream.copyToHost(words.memory(), 0, MemorySegment.ofArray(numbers));
        boolean sends = numbers[0] == numbers[6] && numbers[1] == numbers[7];
        boolean receives = numbers[2] == numbers[4] && numbers[3] == numbers[5];
        HostBuffer out = sends ? send : send.slice(0, 0);
        HostBuffer in = receives ? receive : receive.slice(0, 0);
        DeviceSlice outgoing = upload(first, out);
        DeviceSlice incoming = second.of(in.length(), in.dtype());
        run(DeviceWork.sendRecv(stream, outgoing, to, incoming, from), deadline);
        download(incoming, in);
        if (!sends) {
            throw misfit(rank.nccl.rank, numbers, 0, to, 6);
        }
        if (!receives) {
            throw misfit(from, numbers, 4, rank.nccl.rank, 2);
        }
    }

    @SuppressWarnings("EnumOrdinal") // the ranks of a job run one build
    private static void describe(MemorySegment to, int at, HostBuffer buffer) {
        to.setAtIndex(ValueLayout.JAVA_LONG, at, buffer.dtype().ordinal());
        to.setAtIndex(ValueLayout.JAVA_LONG, at + 1, buffer.length());
    }

    @SuppressWarnings("EnumOrdinal")
    private static CollectiveMismatchException misfit(int sender, long[] numbers, int sent, int receiver, int wanted) {
        return new CollectiveMismatchException("sendRecv: rank " + sender + " sends " + numbers[sent + 1] + " "
                + DType.values()[(int) numbers[sent]] + ", rank " + receiver + " receives " + numbers[wanted + 1] + " "
                + DType.values()[(int) numbers[wanted]] + "; both must be the same (nothing was copied)");
    }

    private DeviceSlice upload(DeviceStaging staging, HostBuffer source) {
        DeviceSlice staged = staging.of(source.length(), source.dtype());
        stream.copyToDevice(source.memory(), staged.memory(), 0);
        return staged;
    }

    /** Waits before anything is copied back: a copy to pageable memory waits without a limit. */
    private void run(DeviceWork work, long deadline) {
        rank.enqueue(work);
        rank.await(stream, work.what(), deadline);
    }

    private void download(DeviceSlice staged, HostBuffer target) {
        stream.copyToHost(staged.memory(), staged.offset(), target.memory());
    }

    @Override
    public void close() {
        first.close();
        second.close();
        own.close();
        all.close();
    }
}
