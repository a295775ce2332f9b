package dev.tenon.collective.inprocess;

import dev.tenon.collective.ArgumentChecks;
import dev.tenon.collective.Buffer;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.InputException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A rank among threads. */
final class InProcessCommunicator implements Communicator {
    private final int rank;
    private final GroupState group;
    private final Rounds rounds;
    private final AtomicReference<@Nullable Thread> caller = new AtomicReference<>();

    InProcessCommunicator(int rank, GroupState group) {
        this.rank = rank;
        this.group = group;
        rounds = new Rounds(rank, group);
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int world() {
        return group.world();
    }

    @Override
    public Duration timeout() {
        return group.options().timeout();
    }

    @Override
    public void allReduce(Buffer source, Buffer target, ReduceOp op) {
        exclusively(() -> rounds.join(() -> Calls.allReduce(source, target, op)));
    }

    @Override
    public void reduceScatter(Buffer source, Buffer target, ReduceOp op) {
        exclusively(() -> rounds.join(() -> Calls.reduceScatter(source, target, op, rank, world())));
    }

    @Override
    public void allGather(Buffer source, Buffer target) {
        exclusively(() -> rounds.join(() -> Calls.allGather(source, target, rank, world())));
    }

    @Override
    public void broadcast(Buffer data, int root) {
        exclusively(() -> rounds.join(() -> Calls.broadcast(data, root, rank, world())));
    }

    @Override
    public void barrier() {
        exclusively(() -> rounds.join(() -> Call.BARRIER));
    }

    @Override
    public void sendRecv(Buffer send, int to, Buffer receive, int from) {
        ArgumentChecks.requireRank("sendRecv", "the receiver", to, world());
        ArgumentChecks.requireRank("sendRecv", "the sender", from, world());
        ArgumentChecks.requireGiven("sendRecv", "send", send);
        ArgumentChecks.requireGiven("sendRecv", "receive", receive);
        HostBuffer out = Calls.readable("sendRecv", send);
        HostBuffer in = Calls.readable("sendRecv", receive);
        ArgumentChecks.requireWritable("sendRecv", in);
        Calls.apart("sendRecv", out, in);
        exclusively(() -> {
            rounds.check();
            group.mailboxes.sendRecv(
                    rank, out, to, in, from, System.nanoTime() + timeout().toNanos());
        });
    }

    private void exclusively(Runnable operation) {
        Thread self = Thread.currentThread();
        Thread other = caller.compareAndExchange(null, self);
        if (other != null) {
            throw new InputException("rank " + rank + " is in an operation on thread " + other.getName()
                    + "; a rank does one at a time (called on thread " + self.getName() + ")");
        }
        try {
            operation.run();
        } finally {
            caller.set(null);
        }
    }

    @Override
    public void abort(String reason) {
        group.breakUp(at -> new CollectiveAbortedException(
                "rank " + at + ": the group was aborted by rank " + rank + ": " + reason));
    }

    @Override
    public void close() {
        rounds.leave("closed its communicator", null);
    }

    /** The rank's thread is done with its task, and how. */
    void leave(String how, @Nullable Throwable cause) {
        rounds.leave(how, cause);
    }
}
