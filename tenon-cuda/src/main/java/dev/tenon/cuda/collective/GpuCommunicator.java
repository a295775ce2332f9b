package dev.tenon.cuda.collective;

import dev.tenon.core.collective.Buffer;
import dev.tenon.core.collective.Communicator;
import dev.tenon.core.collective.HostBuffer;
import dev.tenon.core.collective.ReduceOp;
import dev.tenon.core.collective.Request;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.InputException;
import dev.tenon.cuda.port.GpuStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A rank on a GPU. Buffers are host memory, through which a call waits, or {@link DeviceSlice}s of this rank's device, whose work is enqueued on {@link #stream()} and may be captured there into a graph.
 *
 * <p>What differs from ranks that are threads:
 *
 * <ul>
 *   <li>calls on device memory are not compared between ranks: ranks that ask for different things wait for each other until the timeout, or give wrong results;
 *   <li>{@code max} and {@code min} may lose NaN, f16 and bf16 are rounded at every rank that they pass, and there is no mean of integers (sums and means that go over peer memory are made in f32 and rounded once);
 *   <li>a timeout breaks the group, and {@link #abort} reaches the ranks of this process; other processes' ranks end by their own timeout.
 * </ul>
 *
 * <p>A graph that holds collectives is closed before the communicator, which waits for it. Thread-safety: any one thread at a time; a second one is refused. {@link #abort} may come from anywhere.
 */
public final class GpuCommunicator implements Communicator {
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long GRACE_NANOS = 10_000_000_000L;

    private final RankState rank;
    private final HostCalls host;
    private final GpuStream stream;
    private final GpuCollectiveOptions options;
    private final AtomicReference<@Nullable Thread> caller;

    GpuCommunicator(RankState rank, GpuCollectiveOptions options) {
        this(rank, new HostCalls(rank), rank.stream, options, new AtomicReference<>());
        Watchdog.add(rank); // last: one that could not be made is nobody's to mind
    }

    private GpuCommunicator(
            RankState rank,
            HostCalls host,
            GpuStream stream,
            GpuCollectiveOptions options,
            AtomicReference<@Nullable Thread> caller) {
        this.rank = rank;
        this.host = host;
        this.stream = stream;
        this.options = options;
        this.caller = caller;
    }

    /** This rank with its work on device memory on another stream of the device; as long as this one is open. Collectives of one rank on several streams must not run at the same time: order them by events. */
    public GpuCommunicator on(GpuStream other) {
        return new GpuCommunicator(rank, host, other, options, caller);
    }

    /** Where the work on device memory goes. */
    public GpuStream stream() {
        return stream;
    }

    /**
     * Waits until everything on {@link #stream()} is done, graphs that hold collectives too, but not beyond the timeout.
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
        exclusively(() -> {
            if (source instanceof DeviceSlice from && target instanceof DeviceSlice to) {
                rank.check();
                Requests.allReduce(from, to, op);
                enqueueAllReduce(from, to, op);
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.allReduce(source, target, op), deadline);
            host.allReduce((HostBuffer) source, (HostBuffer) target, op, deadline);
        });
    }

    private void enqueueAllReduce(DeviceSlice from, DeviceSlice to, ReduceOp op) {
        OneShotRank oneShot = rank.oneShot;
        Batch batch = Batch.current();
        if (oneShot != null
                && OneShotRank.takes(from.dtype(), from.length(), op)
                && (batch == null || !batch.holdsCallsOf(rank))) {
            Runnable launch = () -> {
                oneShot.enqueue(stream, from, to, op);
                rank.mark(stream);
            };
            if (batch == null) {
                launch.run();
            } else {
                batch.addLaunch(launch);
            }
        } else {
            enqueue(from.length(), DeviceWork.allReduce(stream, from, to, op));
        }
    }

    @Override
    public void reduceScatter(Buffer source, Buffer target, ReduceOp op) {
        exclusively(() -> {
            if (source instanceof DeviceSlice from && target instanceof DeviceSlice to) {
                rank.check();
                Requests.reduceScatter(from, to, op, rank(), world());
                enqueue(from.length(), DeviceWork.reduceScatter(stream, from, to, op, world()));
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.reduceScatter(source, target, op, rank(), world()), deadline);
            host.reduceScatter((HostBuffer) source, (HostBuffer) target, op, deadline);
        });
    }

    @Override
    public void allGather(Buffer source, Buffer target) {
        exclusively(() -> {
            if (source instanceof DeviceSlice from && target instanceof DeviceSlice to) {
                rank.check();
                Requests.allGather(from, to, rank(), world());
                enqueue(to.length(), DeviceWork.allGather(stream, from, to, world()));
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.allGather(source, target, rank(), world()), deadline);
            host.allGather((HostBuffer) source, (HostBuffer) target, deadline);
        });
    }

    @Override
    public void broadcast(Buffer data, int root) {
        exclusively(() -> {
            if (data instanceof DeviceSlice slice) {
                rank.check();
                Requests.broadcast(slice, root, rank(), world());
                enqueue(slice.length(), DeviceWork.broadcast(stream, slice, root));
                return;
            }
            long deadline = options.deadline();
            host.agree(() -> Requests.broadcast(data, root, rank(), world()), deadline);
            host.broadcast((HostBuffer) data, root, deadline);
        });
    }

    @Override
    public void sendRecv(Buffer send, int to, Buffer receive, int from) {
        exclusively(() -> {
            rank.check();
            Requests.sendRecv(send, to, receive, from, world());
            if (send instanceof DeviceSlice out && receive instanceof DeviceSlice in) {
                enqueue(out.length() + in.length(), DeviceWork.sendRecv(stream, out, to, in, from));
                return;
            }
            if (Batch.current() != null) {
                throw new InputException("within together() ranks work on device memory");
            }
            host.sendRecv((HostBuffer) send, to, (HostBuffer) receive, from, options.deadline());
        });
    }

    /** Waits until every rank is here; says nothing of work on the devices that came before on other streams than the rank's own. */
    @Override
    public void barrier() {
        exclusively(() -> host.agree(() -> Request.BARRIER, options.deadline()));
    }

    private void enqueue(long length, DeviceWork work) {
        if (length > 0) {
            rank.enqueue(work);
        }
    }

    @Override
    public void abort(String reason) {
        int by = rank();
        rank.nccl.fate.breakUp(at ->
                new CollectiveAbortedException("rank " + at + ": the group was aborted by rank " + by + ": " + reason));
    }

    /** Leaves, once a call that another thread is in has ended and the work that is under way is done; ranks that wait for this one end by their timeout. Idempotent. */
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
