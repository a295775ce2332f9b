package dev.tenon.cuda.collective;

import dev.tenon.collective.Buffer;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.Request;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.GpuStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A rank on a GPU. Buffers are host memory, through which a call waits, or lie on this rank's device: tensors that its
 * {@link dev.tenon.core.runtime.Engine} has made, or {@link DeviceSlice}s. Work on these is enqueued on
 * {@link #stream()}; tensors keep their own order, that of slices is the stream's. Calls on slices may be captured
 * there into a graph.
 *
 * <p>What differs from ranks that are threads:
 *
 * <ul>
 *   <li>calls on device memory are not compared between ranks: ranks that ask for different things wait for each other
 *       until the timeout, or give wrong results;
 *   <li>{@code max} and {@code min} may lose NaN, f16 and bf16 are rounded at every rank that they pass, and there is
 *       no mean of integers (sums and means that go over peer memory are made in f32 and rounded once);
 *   <li>a timeout breaks the group, and {@link #abort} reaches the ranks of this process; other processes' ranks end by
 *       their own timeout.
 * </ul>
 *
 * <p>A graph that holds collectives is closed before the communicator, which waits for it. Thread-safety: any one
 * thread at a time; a second one is refused. {@link #abort} may come from anywhere.
 */
public final class GpuCommunicator implements Communicator {
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long GRACE_NANOS = 10_000_000_000L;

    private final RankState rank;
    private final HostCalls host;
    private final GpuStream stream;
    private final GpuCollectiveOptions options;
    private final Runnable last;
    private final AtomicReference<@Nullable Thread> caller;

    /** @param last closes what only this rank was opened with */
    GpuCommunicator(RankState rank, GpuCollectiveOptions options, Runnable last) {
        this(rank, new HostCalls(rank), rank.stream, options, last, new AtomicReference<>());
        Watchdog.add(rank); // last: one that could not be made is nobody's to mind
    }

    private GpuCommunicator(
            RankState rank,
            HostCalls host,
            GpuStream stream,
            GpuCollectiveOptions options,
            Runnable last,
            AtomicReference<@Nullable Thread> caller) {
        this.rank = rank;
        this.host = host;
        this.stream = stream;
        this.options = options;
        this.last = last;
        this.caller = caller;
    }

    /**
     * This rank with its work on device memory on another stream of the device; as long as this one is open.
     * Collectives of one rank on several streams must not run at the same time: order them by events.
     */
    public GpuCommunicator on(GpuStream other) {
        return new GpuCommunicator(rank, host, other, options, last, caller);
    }

    /** Where the work on device memory goes. */
    public GpuStream stream() {
        return stream;
    }

    /**
     * Waits until everything on {@link #stream()} is done, graphs that hold collectives too, but not beyond the
     * timeout.
     *
     * @throws dev.tenon.core.error.CollectiveTimeoutException at the timeout; the group is then broken
     * @throws CollectiveAbortedException when the group is broken, which ends what is under way without its result
     */
    public void await() {
        exclusively(() -> rank.await(stream, "await", options.deadline()));
    }

    @Override
    public int rank() {
        return rank.nccl.rank;
    }

    @Override
    public int world() {
        return rank.nccl.world;
    }

    @Override
    public Duration timeout() {
        return options.timeout();
    }

    @Override
    public void allReduce(Buffer source, Buffer target, ReduceOp op) {
        call(tensors -> {
            Buffer from = tensors.read("allReduce", source);
            Buffer to = tensors.filled("allReduce", target);
            if (from instanceof DeviceSlice in && to instanceof DeviceSlice out) {
                rank.check();
                Requests.allReduce(in, out, op);
                enqueueAllReduce(tensors, in, out, op);
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.allReduce(from, to, op), deadline);
            host.allReduce((HostBuffer) from, (HostBuffer) to, op, deadline);
        });
    }

    private void enqueueAllReduce(TensorUses tensors, DeviceSlice from, DeviceSlice to, ReduceOp op) {
        OneShotRank oneShot = rank.oneShot;
        NcclBatch batch = NcclBatch.current();
        if (oneShot != null
                && OneShotRank.takes(from.dtype(), from.length(), op)
                && (batch == null || !batch.holdsCallsOf(rank))) {
            Runnable launch = () -> {
                oneShot.enqueue(stream, from, to, op);
                rank.mark(stream);
            };
            if (batch == null) {
                tensors.enqueue(launch);
            } else {
                batch.addLaunch(launch, tensors);
            }
        } else {
            enqueue(tensors, from.length(), DeviceWork.allReduce(stream, from, to, op));
        }
    }

    @Override
    public void reduceScatter(Buffer source, Buffer target, ReduceOp op) {
        call(tensors -> {
            Buffer from = tensors.read("reduceScatter", source);
            Buffer to = tensors.filled("reduceScatter", target);
            if (from instanceof DeviceSlice in && to instanceof DeviceSlice out) {
                rank.check();
                Requests.reduceScatter(in, out, op, rank(), world());
                enqueue(tensors, in.length(), DeviceWork.reduceScatter(stream, in, out, op, world()));
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.reduceScatter(from, to, op, rank(), world()), deadline);
            host.reduceScatter((HostBuffer) from, (HostBuffer) to, op, deadline);
        });
    }

    @Override
    public void allGather(Buffer source, Buffer target) {
        call(tensors -> {
            Buffer from = tensors.read("allGather", source);
            Buffer to = tensors.filled("allGather", target);
            if (from instanceof DeviceSlice in && to instanceof DeviceSlice out) {
                rank.check();
                Requests.allGather(in, out, rank(), world());
                enqueue(tensors, out.length(), DeviceWork.allGather(stream, in, out, world()));
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.allGather(from, to, rank(), world()), deadline);
            host.allGather((HostBuffer) from, (HostBuffer) to, deadline);
        });
    }

    @Override
    public void broadcast(Buffer data, int root) {
        call(tensors -> {
            Buffer all = root == rank() ? tensors.read("broadcast", data) : tensors.filled("broadcast", data);
            if (all instanceof DeviceSlice slice) {
                rank.check();
                Requests.broadcast(slice, root, rank(), world());
                enqueue(tensors, slice.length(), DeviceWork.broadcast(stream, slice, root));
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.broadcast(all, root, rank(), world()), deadline);
            host.broadcast((HostBuffer) all, root, deadline);
        });
    }

    @Override
    public void sendRecv(Buffer send, int to, Buffer receive, int from) {
        call(tensors -> {
            Buffer given = tensors.read("sendRecv", send);
            Buffer got = tensors.filled("sendRecv", receive);
            rank.check();
            Requests.sendRecv(given, to, got, from, world());
            if (given instanceof DeviceSlice out && got instanceof DeviceSlice in) {
                enqueue(tensors, out.length() + in.length(), DeviceWork.sendRecv(stream, out, to, in, from));
                return;
            }
            if (NcclBatch.current() != null) {
                throw new InputException("within together() ranks work on device memory");
            }
            host.sendRecv((HostBuffer) given, to, (HostBuffer) got, from, options.deadline());
        });
    }

    /**
     * Waits until every rank is here; says nothing of work on the devices that came before on other streams than the
     * rank's own.
     */
    @Override
    public void barrier() {
        exclusively(() -> host.agree(() -> Request.BARRIER, options.deadline()));
    }

    private void enqueue(TensorUses tensors, long length, DeviceWork work) {
        NcclBatch batch = NcclBatch.current();
        if (length == 0) {
            tensors.release();
        } else if (batch != null) {
            batch.add(rank, work, tensors);
        } else {
            tensors.enqueue(() -> rank.enqueue(work));
        }
    }

    @Override
    public void abort(String reason) {
        int by = rank();
        rank.nccl.fate.breakUp(at ->
                new CollectiveAbortedException("rank " + at + ": the group was aborted by rank " + by + ": " + reason));
    }

    /**
     * Leaves, once a call that another thread is in has ended and the work that is under way is done; ranks that wait
     * for this one end by their timeout. Idempotent.
     */
    @Override
    public void close() {
        Thread closing = beginClose();
        if (closing != null) {
            Leaving.leave(List.of(closing), List.of(rank.nccl.context), this::endClose);
        }
    }

    /** The first half of closing, for all ranks of a process before the second of any. */
    @Nullable
    Thread beginClose() {
        long deadline = options.deadline() + GRACE_NANOS;
        while (!caller.compareAndSet(null, Thread.currentThread())) {
            if (System.nanoTime() - deadline >= 0) { // the call ends by its timeout, unless the driver holds it up
                rank.nccl.fate.breakUp(at -> new CollectiveTimeoutException(
                        "rank " + at + ": closed while rank " + rank() + " was held up in a call"));
                return rank.beginClose();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        try {
            return rank.beginClose();
        } finally {
            caller.set(null);
        }
    }

    void endClose() {
        host.close();
        rank.endClose();
        last.run();
    }

    /** Makes a call. Whoever enqueues its work lets go of its tensors; if it is not enqueued, this does. */
    private void call(Consumer<TensorUses> operation) {
        exclusively(() -> {
            TensorUses tensors = new TensorUses(rank, stream);
            try {
                operation.accept(tensors);
            } catch (RuntimeException | Error e) {
                tensors.release();
                throw e;
            }
        });
    }

    private void exclusively(Runnable operation) {
        Thread self = Thread.currentThread();
        Thread other = caller.compareAndExchange(null, self);
        if (other != null) {
            throw new InputException("rank " + rank() + " is in an operation on thread " + other.getName()
                    + "; a rank does one at a time (called on thread " + self.getName() + ")");
        }
        try {
            operation.run();
        } finally {
            caller.set(null);
        }
    }
}
